package dev.saccade.report.draw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.ade20k.Ade20kClasses;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;

class ClassColoursTest {

    @Test
    void givesTheClassesOfAde20kTheirPublishedColours() {
        List<Integer> colours = ClassColours.of(Ade20kClasses.NAMES);
        assertEquals(0x787878, colours.get(0));
        assertEquals(0xcc05ff, colours.get(7));
        assertEquals(colours.get(6), colours.get(48));
        assertEquals(149, new HashSet<>(colours).size());
    }

    @Test
    void givesOtherClassesColoursThatKeepNeighboursApart() {
        List<Integer> colours = ClassColours.of(List.of("sky", "road", "car", "tree"));
        assertEquals(4, new HashSet<>(colours).size());
        for (int i = 1; i < colours.size(); i++) {
            int difference = 0;
            for (int shift = 0; shift < 24; shift += 8) {
                difference +=
                        Math.abs(
                                (colours.get(i) >> shift & 0xFF)
                                        - (colours.get(i - 1) >> shift & 0xFF));
            }
            assertTrue(difference > 150, "difference " + difference);
        }
    }
}

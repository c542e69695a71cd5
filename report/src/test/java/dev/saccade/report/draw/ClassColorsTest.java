package dev.saccade.report.draw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.ade20k.Ade20kClasses;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;

class ClassColorsTest {

    @Test
    void givesTheClassesOfAde20kTheirPublishedColors() {
        List<Integer> colors = ClassColors.of(Ade20kClasses.NAMES);
        assertEquals(0x787878, colors.get(0));
        assertEquals(0xcc05ff, colors.get(7));
        assertEquals(colors.get(6), colors.get(48));
        assertEquals(149, new HashSet<>(colors).size());
    }

    @Test
    void givesOtherClassesColorsThatKeepNeighborsApart() {
        List<Integer> colors = ClassColors.of(List.of("sky", "road", "car", "tree"));
        assertEquals(4, new HashSet<>(colors).size());
        for (int i = 1; i < colors.size(); i++) {
            int difference = 0;
            for (int shift = 0; shift < 24; shift += 8) {
                difference +=
                        Math.abs(
                                (colors.get(i) >> shift & 0xFF)
                                        - (colors.get(i - 1) >> shift & 0xFF));
            }
            assertTrue(difference > 150, "difference " + difference);
        }
    }
}

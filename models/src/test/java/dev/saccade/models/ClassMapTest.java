package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.awt.image.BufferedImage;
import java.util.List;
import java.util.Map;

/** Label maps with names. */
class ClassMapTest {

    private static final ClassMap MAP =
            new ClassMap(
                    LabelMap.of(new Size(2, 3), new short[] {2, 2, 0, 2, 2, 0}),
                    List.of("sky", "road", "tree"));

    @Test
    void namesTheClassOfEveryPixel() {
        assertEquals(3, MAP.width());
        assertEquals(2, MAP.height());
        assertEquals("tree", MAP.at(1, 1));
        assertEquals("sky", MAP.at(2, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> MAP.at(0, 2));
    }

    @Test
    void tellsTheShareOfEveryClassThatIsThere() {
        assertEquals(List.of("tree", "sky"), List.copyOf(MAP.shares().keySet()));
        assertEquals(Map.of("tree", 4 / 6.0, "sky", 2 / 6.0), MAP.shares());
    }

    @Test
    void givesTheRegionOfAClass() {
        Rle tree = MAP.mask("tree");
        assertEquals(4, tree.area());
        BufferedImage image = tree.toImage();
        assertEquals(255, image.getRaster().getSample(0, 1, 0));
        assertEquals(0, image.getRaster().getSample(2, 1, 0));
        assertEquals(0, MAP.mask("road").area());
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> MAP.mask("car"));
        assertTrue(thrown.getMessage().contains("car"), thrown.getMessage());
    }
}

package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.junit.jupiter.api.Test;

import java.util.List;

class TilesTest {

    /** What {@code sahi.slicing.get_slice_bboxes(1500, 2000, 640, 640, ...)} gives. */
    @Test
    void equalsTheTilesOfSahi() {
        List<Tile> tiles = Tiles.of(640).of(new Size(1500, 2000));
        assertEquals(
                List.of(0, 512, 1024, 1360), tiles.stream().map(Tile::left).distinct().toList());
        assertEquals(List.of(0, 512, 860), tiles.stream().map(Tile::top).distinct().toList());
        assertEquals(12, tiles.size());
        assertTrue(tiles.stream().allMatch(tile -> tile.size().equals(new Size(640, 640))));
    }

    @Test
    void returnsOneTileForSmallImages() {
        Size image = new Size(480, 640);
        assertEquals(List.of(Tile.all(image)), Tiles.of(640).of(image));
        assertEquals(2, Tiles.of(639).of(image).size());
    }

    @Test
    void reportsAllInvalidSettings() {
        IllegalArgumentException refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new Tiles(List.of(4, 640), Double.NaN, true));
        assertTrue(refused.getMessage().contains("size[0]: got 4"), refused.getMessage());
        assertTrue(refused.getMessage().contains("overlap: got NaN"), refused.getMessage());
        SaccadeException many =
                assertThrows(
                        SaccadeException.class,
                        () -> Tiles.of(16).overlap(0.9).of(new Size(9000, 9000)));
        assertTrue(many.getMessage().contains("larger tiles or less overlap"), many.getMessage());
    }
}

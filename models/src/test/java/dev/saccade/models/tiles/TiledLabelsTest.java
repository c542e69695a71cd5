package dev.saccade.models.tiles;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import java.util.List;

class TiledLabelsTest {

    /** Each tile labels pixels by their distance from its inner borders. */
    @Property(tries = 100)
    void pixelsComeFromTheTileWithMostContext(
            @ForAll @IntRange(min = 20, max = 90) int height,
            @ForAll @IntRange(min = 20, max = 90) int width,
            @ForAll @IntRange(min = 16, max = 60) int edge,
            @ForAll @DoubleRange(min = 0, max = 0.5) double overlap) {
        Size photo = new Size(height, width);
        List<Tile> tiles = Tiles.of(edge, edge).overlap(overlap).of(photo);
        TiledLabels labels = new TiledLabels(photo, tiles);
        for (int i = 0; i < tiles.size(); i++) {
            labels.add(tiles.get(i), LabelMap.filled(tiles.get(i).size(), i));
        }
        LabelMap map = labels.map();
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                Tile own = tiles.get(map.get(y, x));
                int row = y;
                int column = x;
                // The middle of an even width may be one pixel off.
                assertEquals(
                        tiles.stream()
                                .mapToInt(tile -> across(tile, column, width))
                                .max()
                                .orElse(0),
                        across(own, column, width),
                        1);
                assertEquals(
                        tiles.stream().mapToInt(tile -> down(tile, row, height)).max().orElse(0),
                        down(own, row, height),
                        1);
            }
        }
    }

    private static int across(Tile tile, int x, int width) {
        return Math.min(
                tile.left() == 0 && x >= 0 ? width : x - tile.left(),
                tile.right() == width ? width : tile.right() - 1 - x);
    }

    private static int down(Tile tile, int y, int height) {
        return Math.min(
                tile.top() == 0 ? height : y - tile.top(),
                tile.bottom() == height ? height : tile.bottom() - 1 - y);
    }
}

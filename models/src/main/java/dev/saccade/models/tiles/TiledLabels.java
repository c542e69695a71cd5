package dev.saccade.models.tiles;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles.Tile;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Merges the label maps of tiles. Splits each overlap of two tiles in the middle. */
public final class TiledLabels {

    private final Size image;
    private final NavigableSet<Integer> lefts;
    private final NavigableSet<Integer> tops;
    private final short[] labels;

    /** Creates an empty map for tiles that cover an image of this size. */
    public TiledLabels(Size image, List<Tile> tiles) {
        this.image = image;
        this.lefts = tiles.stream().map(Tile::left).collect(Collectors.toCollection(TreeSet::new));
        this.tops = tiles.stream().map(Tile::top).collect(Collectors.toCollection(TreeSet::new));
        this.labels = new short[Math.toIntExact(image.area())];
    }

    /** Adds the labels of a tile up to the middle of each overlap with its neighbors. */
    public void add(Tile tile, LabelMap map) {
        int width = tile.size().width();
        int height = tile.size().height();
        int left = start(lefts, tile.left(), width);
        int right = end(lefts, tile.left(), width, image.width());
        int top = start(tops, tile.top(), height);
        int bottom = end(tops, tile.top(), height, image.height());
        short[] own = map.toArray();
        for (int y = top; y < bottom; y++) {
            System.arraycopy(
                    own,
                    (y - tile.top()) * width + left - tile.left(),
                    labels,
                    y * image.width() + left,
                    right - left);
        }
    }

    private static int start(NavigableSet<Integer> starts, int start, int length) {
        Integer before = starts.lower(start);
        return before == null ? 0 : middle(before, start, length);
    }

    private static int end(NavigableSet<Integer> starts, int start, int length, int edge) {
        Integer next = starts.higher(start);
        return next == null ? edge : middle(start, next, length);
    }

    private static int middle(int start, int next, int length) {
        return (start + length + next) / 2;
    }

    /** Returns the merged label map; call once, after adding all tiles. */
    public LabelMap map() {
        return LabelMap.of(image, labels);
    }
}

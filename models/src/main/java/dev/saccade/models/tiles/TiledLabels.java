package dev.saccade.models.tiles;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles.Tile;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Merges the label maps of tiles; the border is in the middle of each overlap. */
public final class TiledLabels {

    private final Size photo;
    private final NavigableSet<Integer> lefts;
    private final NavigableSet<Integer> tops;
    private final short[] labels;

    /** Starts without labels, for tiles that cover an image of height and width {@code photo}. */
    public TiledLabels(Size photo, List<Tile> tiles) {
        this.photo = photo;
        this.lefts = tiles.stream().map(Tile::left).collect(Collectors.toCollection(TreeSet::new));
        this.tops = tiles.stream().map(Tile::top).collect(Collectors.toCollection(TreeSet::new));
        this.labels = new short[Math.toIntExact(photo.area())];
    }

    /** Adds the part of a label map that is nearest to the center of its tile. */
    public void add(Tile tile, LabelMap map) {
        int width = tile.size().width();
        int height = tile.size().height();
        int left = first(lefts, tile.left(), width);
        int right = behind(lefts, tile.left(), width, photo.width());
        int top = first(tops, tile.top(), height);
        int bottom = behind(tops, tile.top(), height, photo.height());
        short[] own = map.toArray();
        for (int y = top; y < bottom; y++) {
            System.arraycopy(
                    own,
                    (y - tile.top()) * width + left - tile.left(),
                    labels,
                    y * photo.width() + left,
                    right - left);
        }
    }

    private static int first(NavigableSet<Integer> starts, int start, int length) {
        Integer before = starts.lower(start);
        return before == null ? 0 : middle(before, start, length);
    }

    private static int behind(NavigableSet<Integer> starts, int start, int length, int edge) {
        Integer next = starts.higher(start);
        return next == null ? edge : middle(start, next, length);
    }

    /** Returns the middle of the overlap of two tiles. */
    private static int middle(int start, int next, int length) {
        return (start + length + next) / 2;
    }

    /** Returns the merged label map; call once, after adding all tiles. */
    public LabelMap map() {
        return LabelMap.of(photo, labels);
    }
}

package dev.saccade.models.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Script;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * What several views of a photograph, such as scales and mirror images, say together: the mean of
 * their probabilities, as mmsegmentation's test-time augmentation has it.
 *
 * <p>It is made tile by tile; of the size of the photograph, with all classes, nothing is held.
 */
public final class MeanOfViews implements AutoCloseable {

    /** Scores of one view worked on at once; a handful of such float buffers fit the cache. */
    private static final int TILE = 1 << 19;

    /** Rows of a tile. */
    private static final int ROWS = 64;

    private static final Script SOFTMAX =
            Script.compile("(scores: Tensor) -> Tensor", "return torch.softmax(scores, 2)");

    private static final Script ADD_SOFTMAX =
            Script.compile(
                    "(sums: Tensor, scores: Tensor) -> Tensor",
                    "return torch.add_(sums, torch.softmax(scores, 2))");

    private static final Script DIVIDE =
            Script.compile(
                    "(sums: Tensor, count: Tensor) -> Tensor", "return torch.div_(sums, count)");

    /** The first of the classes with the highest score. */
    private static final Script BEST =
            Script.compile(
                    "(scores: Tensor) -> Tensor",
                    """
                    best, index = torch.max(scores, 2)
                    return torch.to(index, 3)
                    """);

    private final List<ScoreMap> views;
    private final Size size;
    private final int tile;

    /**
     * Joins views.
     *
     * @param views the scores of each view before softmax, upright and of the size of the
     *     photograph; freed with this
     */
    public MeanOfViews(List<ScoreMap> views) {
        this(views, TILE);
    }

    /** Joins views; so many scores of one of them are worked on at once. */
    MeanOfViews(List<ScoreMap> views, int tile) {
        this.tile = tile;
        this.views = ImmutableList.copyOf(views);
        checkArgument(!views.isEmpty(), "no views");
        size = views.get(0).size();
        checkArgument(
                views.stream().allMatch(view -> view.size().equals(size)), "views of many sizes");
    }

    /**
     * Returns the probabilities of a part.
     *
     * @return {@code [height of the tile, width of the tile, K]}
     */
    public NDArray probabilities(Tile part) {
        return NoGrad.call(
                () -> {
                    NDArray sums;
                    try (NDArray first = views.get(0).part(part)) {
                        sums = SOFTMAX.run(first);
                    }
                    for (ScoreMap view : views.subList(1, views.size())) {
                        try (NDArray scores = view.part(part)) {
                            ADD_SOFTMAX.run(sums, scores).close();
                        }
                    }
                    try (NDArray count = sums.getManager().create((float) views.size())) {
                        DIVIDE.run(sums, count).close();
                    }
                    return sums;
                });
    }

    /**
     * Returns the most probable class of every pixel, the first of them if there are many.
     *
     * <p>A view that stands alone is not put through softmax, which changes no order.
     */
    public LabelMap labels() {
        return NoGrad.call(
                () -> {
                    short[] labels = new short[Math.toIntExact(size.area())];
                    int columns = Math.max(1, tile / ROWS / views.get(0).numClasses());
                    for (int top = 0; top < size.height(); top += ROWS) {
                        int bottom = Math.min(top + ROWS, size.height());
                        for (int left = 0; left < size.width(); left += columns) {
                            int right = Math.min(left + columns, size.width());
                            label(new Tile(top, bottom, left, right), labels);
                        }
                    }
                    return LabelMap.of(size, labels);
                });
    }

    private void label(Tile part, short[] labels) {
        try (NDArray scores = comparable(part);
                NDArray best = BEST.run(scores)) {
            int[] found = best.toIntArray();
            int width = part.size().width();
            for (int i = 0; i < found.length; i++) {
                int row = part.top() + i / width;
                labels[row * size.width() + part.left() + i % width] = (short) found[i];
            }
        }
    }

    /** Returns what ranks the classes. */
    private NDArray comparable(Tile part) {
        return views.size() == 1 ? views.get(0).part(part) : probabilities(part);
    }

    @Override
    public void close() {
        views.forEach(ScoreMap::close);
    }
}

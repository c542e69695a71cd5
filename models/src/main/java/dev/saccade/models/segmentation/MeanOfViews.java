package dev.saccade.models.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.nio.ByteOrder;
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

    /** Writes the first of the classes with the highest score, as two bytes, the lower first. */
    private static final Script BEST =
            Script.compile(
                    "(scores: Tensor, labels: Tensor) -> Tensor",
                    """
                    best, index = torch.max(scores, 2)
                    bytes = [torch.bitwise_and(index, 255), torch.__rshift__(index, 8)]
                    return torch.copy_(labels, torch.stack(bytes, 2))
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
        NDArray sums;
        try (NDArray first = views.get(0).part(part)) {
            sums = Functional.softmax(first, 2);
        }
        for (ScoreMap view : views.subList(1, views.size())) {
            try (NDArray scores = view.part(part);
                    NDArray probabilities = Functional.softmax(scores, 2)) {
                sums.addi(probabilities);
            }
        }
        try (NDArray count = Tensors.of(sums.getManager(), views.size())) {
            return sums.divi(count);
        }
    }

    /**
     * Returns the most probable class of every pixel, the first of several equal ones.
     *
     * <p>A single view is not put through softmax, which keeps the order.
     */
    public LabelMap labels() {
        Shape shape = new Shape(size.height(), size.width(), Short.BYTES);
        int columns = Math.max(1, tile / ROWS / views.get(0).numClasses());
        try (NDArray labels = views.get(0).manager().create(shape, DataType.UINT8)) {
            for (int top = 0; top < size.height(); top += ROWS) {
                int bottom = Math.min(top + ROWS, size.height());
                for (int left = 0; left < size.width(); left += columns) {
                    int right = Math.min(left + columns, size.width());
                    label(new Tile(top, bottom, left, right), labels);
                }
            }
            return LabelMap.of(size, read(labels));
        }
    }

    private void label(Tile part, NDArray labels) {
        try (NDArray scores = comparable(part);
                NDArray place = labels.get(part.index())) {
            BEST.run(scores, place).close();
        }
    }

    private short[] read(NDArray bytes) {
        short[] labels = new short[Math.toIntExact(size.area())];
        Tensors.readBytes(bytes).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(labels);
        return labels;
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

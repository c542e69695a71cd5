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
 * <p>It is made band by band; of the size of the photograph, with all classes, nothing is held.
 */
public final class MeanOfViews implements AutoCloseable {

    /** Scores of one view worked on at once, 32 MB. */
    private static final int BAND = 1 << 23;

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
    private final int band;

    /**
     * Joins views.
     *
     * @param views the scores of each view before softmax, upright and of the size of the
     *     photograph; freed with this
     */
    public MeanOfViews(List<ScoreMap> views) {
        this(views, BAND);
    }

    /** Joins views; so many scores of one of them are worked on at once. */
    MeanOfViews(List<ScoreMap> views, int band) {
        this.band = band;
        this.views = ImmutableList.copyOf(views);
        checkArgument(!views.isEmpty(), "no views");
        size = views.get(0).size();
        checkArgument(
                views.stream().allMatch(view -> view.size().equals(size)), "views of many sizes");
    }

    /**
     * Returns the probabilities of the rows from {@code top} to {@code bottom - 1}.
     *
     * @return {@code [bottom - top, W, K]}
     */
    public NDArray probabilities(int top, int bottom) {
        return NoGrad.call(
                () -> {
                    NDArray sums;
                    try (NDArray first = views.get(0).rows(top, bottom)) {
                        sums = SOFTMAX.run(first);
                    }
                    for (ScoreMap view : views.subList(1, views.size())) {
                        try (NDArray scores = view.rows(top, bottom)) {
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
                    int rows = Math.max(1, band / size.width() / views.get(0).numClasses());
                    for (int top = 0; top < size.height(); top += rows) {
                        int bottom = Math.min(top + rows, size.height());
                        try (NDArray scores = comparable(top, bottom);
                                NDArray best = BEST.run(scores)) {
                            int[] found = best.toIntArray();
                            int start = top * size.width();
                            for (int i = 0; i < found.length; i++) {
                                labels[start + i] = (short) found[i];
                            }
                        }
                    }
                    return LabelMap.of(size, labels);
                });
    }

    /** Returns what ranks the classes. */
    private NDArray comparable(int top, int bottom) {
        return views.size() == 1 ? views.get(0).rows(top, bottom) : probabilities(top, bottom);
    }

    @Override
    public void close() {
        views.forEach(ScoreMap::close);
    }
}

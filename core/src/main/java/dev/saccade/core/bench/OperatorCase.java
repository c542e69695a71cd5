package dev.saccade.core.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.convolutional.Conv2d;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.Text;
import dev.saccade.core.ops.DeformConv2d;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.GroupedConvolution;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.Affine;
import dev.saccade.core.ops.attention.ElsaAttention;
import dev.saccade.core.ops.attention.FocalAttention;
import dev.saccade.core.ops.attention.FocalBias;
import dev.saccade.core.ops.attention.FocalRegion;
import dev.saccade.core.ops.attention.KeyOnlyAttention;
import dev.saccade.core.ops.attention.WindowAttention;
import dev.saccade.core.ops.attention.WindowPooling;
import dev.saccade.core.ops.attention.Windows;
import dev.saccade.core.ops.vision.MaxIouAssign;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.core.ops.vision.RoiAlign;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * An operator at a size that models have.
 *
 * @param name of the operator
 * @param size what it is given, for people
 * @param inputs shapes of its inputs
 * @param differentiable whether all of them have gradients
 * @param work of the forward pass
 * @param operator from inputs to result
 */
record OperatorCase(
        String name,
        String size,
        List<Shape> inputs,
        boolean differentiable,
        Work work,
        Function<NDList, NDArray> operator) {

    /**
     * What an operator has to do at least.
     *
     * @param operations additions and multiplications
     * @param numbers floats that cannot but be read or written
     */
    record Work(long operations, long numbers) {}

    /** Channels of a head in all these models. */
    private static final int DEPTH = 32;

    /** Tokens along a side of a window. */
    private static final int WINDOW = 7;

    private static final float IOU_THRESHOLD = 0.7f;

    /** Returns the operators at the stages of the tiny models for so many images of 224 x 224. */
    static List<OperatorCase> all(int images) {
        ImmutableList.Builder<OperatorCase> cases = ImmutableList.builder();
        for (int stage = 0; stage < 3; stage++) {
            int side = 56 >> stage;
            int heads = 3 << stage;
            cases.add(
                    elsa(images, side, heads),
                    groupedConvolution(images, side, 64 << stage),
                    window(images, side, heads),
                    focal(images, side, heads, 7 - 2 * stage),
                    focalBias(heads, 7 - 2 * stage),
                    windowPooling(images, side, heads * DEPTH),
                    layerNorm(images, side, heads * DEPTH),
                    linear(images, side, heads * DEPTH),
                    gelu(images, side, 4 * heads * DEPTH));
        }
        cases.add(keyOnly(images, 56, 64), keyOnly(images, 28, 128));
        cases.add(deformConv2d(images, 28, 128), deformConv2d(images, 14, 256));
        cases.add(roiAlign(512, 7), roiAlign(128, 14), nms(1_000), nms(5_000));
        cases.add(maxIouAssign(200_000, 20));
        return cases.build();
    }

    private static OperatorCase elsa(int images, int side, int heads) {
        int kernel = 7;
        int taps = kernel * kernel;
        int channels = heads * DEPTH;
        Shape map = new Shape(images, side, side);
        ElsaAttention attention = new ElsaAttention(kernel, 1, 0, 1);
        return new OperatorCase(
                "elsa_attention",
                size(images, side, channels),
                List.of(
                        map.add(channels),
                        map.add((long) heads * taps),
                        new Shape(1, channels, kernel, kernel)),
                true,
                new Work(
                        4L * taps * map.size() * channels,
                        map.size() * (2L * channels + (long) heads * taps)),
                in -> attention.attend(in.get(0), in.get(1), Optional.of(in.get(2))));
    }

    private static OperatorCase groupedConvolution(int images, int side, int channels) {
        int kernel = 7;
        int width = 4;
        Shape map = new Shape(images, side, side, channels);
        long taps = (long) kernel * kernel * width;
        return new OperatorCase(
                "grouped_convolution",
                size(images, side, channels),
                List.of(map, new Shape(channels, width, kernel, kernel)),
                true,
                new Work(2 * taps * map.size(), 2 * map.size() + taps * channels),
                in -> convolve(in.get(0).transpose(0, 3, 1, 2), in.get(1)));
    }

    private static NDArray convolve(NDArray maps, NDArray weight) {
        if (GroupedConvolution.isFusedFor(maps, weight)) {
            return GroupedConvolution.convolve(maps, weight, Optional.empty());
        }
        Shape one = new Shape(1, 1);
        long groups = maps.getShape().get(1) / weight.getShape().get(1);
        return Conv2d.conv2d(maps, weight, null, one, new Shape(3, 3), one, (int) groups)
                .singletonOrThrow();
    }

    private static OperatorCase deformConv2d(int images, int side, int channels) {
        int taps = 9;
        Shape map = new Shape(images, channels, side, side);
        long moves = 3L * taps * map.size() / channels;
        DeformConv2d operator = new DeformConv2d(1, 1, 1);
        return new OperatorCase(
                "deform_conv2d",
                size(images, side, channels),
                List.of(
                        map,
                        new Shape(images, 2L * taps, side, side),
                        new Shape(images, taps, side, side),
                        new Shape(channels, channels, 3, 3),
                        new Shape(channels)),
                true,
                new Work(
                        2L * taps * channels * map.size(),
                        2 * map.size() + moves + (long) taps * channels * channels),
                in -> operator.run(in.get(0), in.get(1), in.get(2), in.get(3), in.get(4)));
    }

    private static OperatorCase window(int images, int side, int heads) {
        int shift = WINDOW / 2;
        long across = 2 * WINDOW - 1;
        Shape map = new Shape(images, side, side, 3L * heads * DEPTH);
        Windows windows = new Windows(WINDOW, shift);
        return new OperatorCase(
                "window_attention",
                size(images, side, heads * DEPTH),
                List.of(map, new Shape(across * across, heads)),
                true,
                new Work(4L * WINDOW * WINDOW * map.size() / 3, map.size() + map.size() / 3),
                in -> WindowAttention.attend(windows, in.get(0), new AsIs(), in.get(1)));
    }

    private static OperatorCase focal(int images, int side, int heads, int focalWindow) {
        FocalRegion region = new FocalRegion(WINDOW, 0, WINDOW / 2, focalWindow, 1, false);
        int channels = heads * DEPTH;
        int cells = side / WINDOW * (side / WINDOW);
        Shape map = new Shape(images, side, side, 3L * channels);
        return new OperatorCase(
                "focal_attention",
                size(images, side, channels),
                List.of(
                        map,
                        new Shape(images, cells, 3L * channels),
                        new Shape(heads, region.area(), region.keys())),
                true,
                new Work(4L * region.keys() * map.size() / 3, map.size() + map.size() / 3),
                in ->
                        FocalAttention.attend(
                                region,
                                in.get(0),
                                Optional.of(in.get(1)),
                                in.get(2),
                                new Shape(images, side, side, channels)));
    }

    private static OperatorCase focalBias(int heads, int focalWindow) {
        FocalRegion region = new FocalRegion(WINDOW, 0, WINDOW / 2, focalWindow, 1, false);
        long across = 2 * WINDOW - 1;
        long reach = WINDOW + region.cells(0) - 1L;
        long biases = (long) heads * region.area() * region.keys();
        return new OperatorCase(
                "focal_bias",
                Text.format("%d heads, %d keys", heads, region.keys()),
                List.of(
                        new Shape(across * across, heads),
                        new Shape(1, heads, region.area(), region.neighbors()),
                        new Shape(heads, reach * reach)),
                true,
                new Work(biases, 2 * biases),
                in ->
                        FocalBias.lookUp(
                                region, in.get(0), Optional.of(in.get(1)), List.of(in.get(2))));
    }

    private static OperatorCase windowPooling(int images, int side, int channels) {
        Shape map = new Shape(images, side, side, channels);
        return new OperatorCase(
                "window_pooling",
                size(images, side, channels),
                List.of(map, new Shape(1, (long) WINDOW * WINDOW), new Shape(1)),
                true,
                new Work(2 * map.size(), map.size()),
                in -> WindowPooling.pool(in.get(0), in.get(1), in.get(2), WINDOW));
    }

    private static OperatorCase keyOnly(int images, int side, int channels) {
        Shape map = new Shape(images, side, side, channels);
        Shape square = new Shape(channels, channels);
        return new OperatorCase(
                "key_only_attention",
                size(images, side, channels),
                List.of(map, new Shape(1, channels), square, square, square, square),
                true,
                new Work(2 * map.size() * (channels + 2L), 2 * map.size()),
                in -> KeyOnlyAttention.attend(in.get(0), in.get(1), in.subNDList(2), List.of()));
    }

    private static OperatorCase layerNorm(int images, int side, int channels) {
        Shape map = new Shape(images, side, side, channels);
        Shape vector = new Shape(channels);
        return new OperatorCase(
                "layer_norm",
                size(images, side, channels),
                List.of(map, map, vector, vector),
                true,
                new Work(9 * map.size(), 4 * map.size()),
                in ->
                        Functional.layerNormOfSum(in.get(0), in.get(1), in.get(2), in.get(3), 1e-5f)
                                .get(0));
    }

    private static OperatorCase linear(int images, int side, int channels) {
        Shape map = new Shape(images, side, side, channels);
        long hidden = 4L * channels;
        return new OperatorCase(
                "linear",
                size(images, side, channels),
                List.of(map, new Shape(hidden, channels), new Shape(hidden)),
                true,
                new Work(2 * map.size() * hidden, 5 * map.size()),
                in -> Functional.linear(in.get(0), in.get(1), in.get(2)));
    }

    private static OperatorCase gelu(int images, int side, int channels) {
        Shape map = new Shape(images, side, side, channels);
        return new OperatorCase(
                "gelu",
                size(images, side, channels),
                List.of(map),
                true,
                new Work(20 * map.size(), 2 * map.size()),
                in -> Functional.gelu(in.get(0)));
    }

    private static OperatorCase roiAlign(int regions, int bins) {
        int channels = 256;
        Shape map = new Shape(1, 200, 336, channels);
        Boxes boxes = boxes(regions);
        int[] zeros = new int[regions];
        RoiAlign align = new RoiAlign(new Size(bins, bins), 0, true);
        long out = (long) regions * bins * bins * channels;
        return new OperatorCase(
                "roi_align",
                Text.format("%d regions x %d x %d x %d", regions, bins, bins, channels),
                List.of(map),
                true,
                new Work(8 * out, out),
                in -> {
                    Rois rois = Rois.of(in.get(0).getManager(), boxes, zeros);
                    NDArray feature = in.get(0).transpose(0, 3, 1, 2);
                    return align.pool(
                            new FeaturePyramid(List.of(feature)), List.of(4), rois, rois.images());
                });
    }

    private static OperatorCase nms(int count) {
        SplittableRandom random = SeededRandom.of(1);
        float[] scores = new float[count];
        long[] groups = new long[count];
        for (int i = 0; i < count; i++) {
            scores[i] = (float) random.nextDouble();
            groups[i] = random.nextInt(5);
        }
        float[] corners = boxes(count).toArray();
        Nms nms = new Nms(IOU_THRESHOLD, Nms.ANY_SCORE, 1_000);
        return new OperatorCase(
                "nms",
                Text.format("%d boxes", count),
                List.of(new Shape(1)),
                false,
                new Work(4L * count * count, 6L * count),
                in -> {
                    NDManager manager = in.getManager();
                    return nms.keep(
                                    Tensors.of(manager, corners, new Shape(1, count, 4)),
                                    Tensors.of(manager, scores, new Shape(1, count, 1)),
                                    Tensors.of(manager, groups, new Shape(count)))
                            .positions();
                });
    }

    private static OperatorCase maxIouAssign(int count, int objects) {
        float[] corners = boxes(count).toArray();
        float[] wanted =
                boxes(count + objects)
                        .select(IntStream.range(count, count + objects).toArray())
                        .toArray();
        MaxIouAssign rule = new MaxIouAssign(0.7, 0.3, 0.3, true, true);
        return new OperatorCase(
                "max_iou_assign",
                Text.format("%d boxes x %d objects", count, objects),
                List.of(new Shape(1)),
                false,
                new Work(15L * count * objects, 7L * count),
                in -> {
                    NDManager manager = in.getManager();
                    return rule.assign(
                                    Tensors.of(manager, corners, new Shape(count, 4)),
                                    Tensors.of(manager, wanted, new Shape(objects, 4)),
                                    manager.create(new Shape(0), DataType.BOOLEAN))
                            .get(0);
                });
    }

    private static Boxes boxes(int count) {
        SplittableRandom random = SeededRandom.of(0);
        float[] corners = new float[4 * count];
        for (int i = 0; i < count; i++) {
            corners[4 * i] = (float) (1_100 * random.nextDouble());
            corners[4 * i + 1] = (float) (600 * random.nextDouble());
            corners[4 * i + 2] = corners[4 * i] + 20 + (float) (200 * random.nextDouble());
            corners[4 * i + 3] = corners[4 * i + 1] + 20 + (float) (200 * random.nextDouble());
        }
        return Boxes.of(corners);
    }

    private static String size(int images, int side, int channels) {
        return Text.format("%d x %d x %d x %d", images, side, side, channels);
    }

    /** A projection that has been made. */
    private record AsIs() implements Affine {

        @Override
        public NDArray apply(NDArray x) {
            return x;
        }

        @Override
        public Optional<NDArray> bias() {
            return Optional.empty();
        }
    }
}

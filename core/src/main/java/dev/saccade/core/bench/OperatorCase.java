package dev.saccade.core.bench;

import static java.util.stream.Collectors.joining;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.Text;
import dev.saccade.core.ops.DeformConv2d;
import dev.saccade.core.ops.Functional;
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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;

/** A fused operator with input shapes that occur in models. */
record OperatorCase(
        String name,
        String size,
        List<Shape> inputs,
        boolean differentiable,
        Function<NDList, NDArray> operator) {

    /** Channels of an attention head. */
    private static final int DEPTH = 32;

    /** Tokens along a side of a window. */
    private static final int WINDOW = 7;

    /** Creates a differentiable case whose size is the shape of its first input. */
    private OperatorCase(String name, List<Shape> inputs, Function<NDList, NDArray> operator) {
        this(
                name,
                Arrays.stream(inputs.get(0).getShape())
                        .mapToObj(Long::toString)
                        .collect(joining(" x ")),
                inputs,
                true,
                operator);
    }

    /** Returns the cases of all operators, with input shapes as in the stages of tiny models. */
    static List<OperatorCase> all(int images) {
        List<OperatorCase> cases = new ArrayList<>();
        for (int stage = 0; stage < 3; stage++) {
            int heads = 3 << stage;
            Shape map = new Shape(images, 56 >> stage, 56 >> stage, (long) heads * DEPTH);
            cases.addAll(attentions(map, heads, 7 - 2 * stage));
            cases.addAll(maps(map));
            Shape wide = new Shape(images, 56 >> stage, 56 >> stage, 64 << stage);
            cases.add(
                    new OperatorCase(
                            "grouped_convolution",
                            List.of(wide, new Shape(wide.get(3), 4, 7, 7)),
                            in -> {
                                NDArray x = in.get(0).transpose(0, 3, 1, 2);
                                int groups = (int) (wide.get(3) / 4);
                                return Functional.conv2d(x, in.get(1), null, 1, 3, 1, groups);
                            }));
        }
        cases.add(keyOnly(new Shape(images, 56, 56, 64)));
        cases.add(keyOnly(new Shape(images, 28, 28, 128)));
        cases.add(deformConv2d(images, 28, 128));
        cases.add(deformConv2d(images, 14, 256));
        cases.addAll(List.of(roiAlign(512, 7), roiAlign(128, 14), nms(1_000), nms(5_000)));
        cases.add(maxIouAssign(200_000, 20));
        return cases;
    }

    private static List<OperatorCase> attentions(Shape map, int heads, int focalWindow) {
        long channels = map.get(3);
        Shape cells = map.slice(0, 3);
        Shape qkv = cells.add(3 * channels);
        Shape table = new Shape((2L * WINDOW - 1) * (2L * WINDOW - 1), heads);
        ElsaAttention elsa = new ElsaAttention(7, 1, 0, 1);
        Windows windows = new Windows(WINDOW, WINDOW / 2);
        FocalRegion region = new FocalRegion(WINDOW, 0, WINDOW / 2, focalWindow, 1, false);
        long pooled = map.get(1) / WINDOW * (map.get(2) / WINDOW);
        long reach = WINDOW + region.cells(0) - 1L;
        return List.of(
                new OperatorCase(
                        "elsa_attention",
                        List.of(map, cells.add(heads * 49L), new Shape(1, channels, 7, 7)),
                        in -> elsa.attend(in.get(0), in.get(1), Optional.of(in.get(2)))),
                new OperatorCase(
                        "window_attention",
                        List.of(qkv, table),
                        in ->
                                WindowAttention.attend(
                                        windows, in.get(0), new Identity(), in.get(1))),
                new OperatorCase(
                        "focal_attention",
                        List.of(
                                qkv,
                                new Shape(map.get(0), pooled, 3 * channels),
                                new Shape(heads, region.area(), region.keys())),
                        in ->
                                FocalAttention.attend(
                                        region, in.get(0), Optional.of(in.get(1)), in.get(2), map)),
                new OperatorCase(
                        "focal_bias",
                        List.of(
                                table,
                                new Shape(1, heads, region.area(), region.neighbors()),
                                new Shape(heads, reach * reach)),
                        in ->
                                FocalBias.lookUp(
                                        region,
                                        in.get(0),
                                        Optional.of(in.get(1)),
                                        List.of(in.get(2)))));
    }

    private static List<OperatorCase> maps(Shape map) {
        long channels = map.get(3);
        Shape vector = new Shape(channels);
        return List.of(
                new OperatorCase(
                        "window_pooling",
                        List.of(map, new Shape(1, WINDOW * WINDOW), new Shape(1)),
                        in -> WindowPooling.pool(in.get(0), in.get(1), in.get(2), WINDOW)),
                new OperatorCase(
                        "layer_norm",
                        List.of(map, map, vector, vector),
                        in ->
                                Functional.addLayerNorm(
                                                in.get(0), in.get(1), in.get(2), in.get(3), 1e-5f)
                                        .get(0)),
                new OperatorCase(
                        "linear",
                        List.of(map, new Shape(4 * channels, channels), new Shape(4 * channels)),
                        in -> Functional.linear(in.get(0), in.get(1), in.get(2))),
                new OperatorCase(
                        "gelu",
                        List.of(map.slice(0, 3).add(4 * channels)),
                        in -> Functional.gelu(in.get(0))));
    }

    private static OperatorCase deformConv2d(int images, int side, int channels) {
        DeformConv2d operator = new DeformConv2d(1, 1, 1);
        return new OperatorCase(
                "deform_conv2d",
                List.of(
                        new Shape(images, channels, side, side),
                        new Shape(images, 18, side, side),
                        new Shape(images, 9, side, side),
                        new Shape(channels, channels, 3, 3),
                        new Shape(channels)),
                in -> operator.run(in.get(0), in.get(1), in.get(2), in.get(3), in.get(4)));
    }

    private static OperatorCase keyOnly(Shape map) {
        Shape square = new Shape(map.get(3), map.get(3));
        return new OperatorCase(
                "key_only_attention",
                List.of(map, new Shape(1, map.get(3)), square, square, square, square),
                in -> KeyOnlyAttention.attend(in.get(0), in.get(1), in.subNDList(2), List.of()));
    }

    private static OperatorCase roiAlign(int regions, int bins) {
        Boxes boxes = boxes(regions);
        RoiAlign align = new RoiAlign(new Size(bins, bins), 0, true);
        return new OperatorCase(
                "roi_align",
                Text.format("%d regions x %d x %d x 256", regions, bins, bins),
                List.of(new Shape(1, 200, 336, 256)),
                true,
                in -> {
                    Rois rois = Rois.of(in.getManager(), boxes, new int[regions]);
                    FeaturePyramid features =
                            new FeaturePyramid(List.of(in.get(0).transpose(0, 3, 1, 2)));
                    return align.pool(features, List.of(4), rois, rois.images());
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
        Nms nms = new Nms(0.7f, Nms.ANY_SCORE, 1_000);
        return new OperatorCase(
                "nms",
                Text.format("%d boxes", count),
                List.of(new Shape(1)),
                false,
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
        float[] targets =
                Arrays.copyOfRange(
                        boxes(count + objects).toArray(), 4 * count, 4 * (count + objects));
        MaxIouAssign rule = new MaxIouAssign(0.7, 0.3, 0.3, true, true);
        return new OperatorCase(
                "max_iou_assign",
                Text.format("%d boxes x %d objects", count, objects),
                List.of(new Shape(1)),
                false,
                in -> {
                    NDManager manager = in.getManager();
                    return rule.assign(
                                    Tensors.of(manager, corners, new Shape(count, 4)),
                                    Tensors.of(manager, targets, new Shape(objects, 4)),
                                    manager.create(new Shape(0), DataType.BOOLEAN))
                            .get(0);
                });
    }

    private static Boxes boxes(int count) {
        SplittableRandom random = SeededRandom.of(0);
        float[] corners = new float[4 * count];
        for (int i = 0; i < corners.length; i += 4) {
            corners[i] = (float) (1_100 * random.nextDouble());
            corners[i + 1] = (float) (600 * random.nextDouble());
            corners[i + 2] = corners[i] + 20 + (float) (200 * random.nextDouble());
            corners[i + 3] = corners[i + 1] + 20 + (float) (200 * random.nextDouble());
        }
        return Boxes.of(corners);
    }

    /** Identity projection, for inputs that are already projected. */
    private record Identity() implements Affine {
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

package dev.saccade.export.onnx;

import static dev.saccade.export.onnx.OnnxGraph.attribute;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.export.Graph;
import dev.saccade.export.Graph.Argument;

import java.util.List;
import java.util.stream.LongStream;

/** Operators of detectors: top-k, NMS and RoI align. */
final class DetectionOperators {

    static final ImmutableMap<String, Operator.ListConverter> CONVERTERS =
            ImmutableMap.of(
                    "aten::topk",
                    DetectionOperators::top,
                    Graph.NMS,
                    DetectionOperators::nms,
                    Graph.ROI_ALIGN,
                    op -> List.of(roiAlign(op)));

    /** Regions with a shorter side are empty after rounding. */
    private static final float MIN_SIDE = 1e-3f;

    private DetectionOperators() {}

    private static List<String> top(Operator op) {
        return op.graph()
                .add(
                        "TopK",
                        List.of(op.tensor(0), op.number(1)),
                        2,
                        attribute("axis", op.axis(2)),
                        attribute("largest", op.flag(3)),
                        attribute("sorted", true));
    }

    /**
     * Writes NMS. Shifts boxes of different groups apart, as in {@link
     * dev.saccade.core.ops.vision.Nms}. Splits ONNX's result, which lists the boxes of all images.
     */
    private static List<String> nms(Operator op) {
        List<Long> sizes = op.node().value(1).sizes();
        long classes = sizes.get(2);
        boolean ofRow = op.node().value(0).sizes().get(1) < sizes.get(1) * classes;
        String zero = op.scalarOf(0, DataType.FLOAT);
        String scores = op.reshape(op.tensor(1), 0, -1);
        String least = op.scalarOf(op.real(4), DataType.FLOAT);
        String there = op.add("Greater", scores, least);
        String boxes = op.tensor(0);
        if (ofRow && classes > 1) {
            String each = op.add("Expand", op.unsqueeze(boxes, 2), op.ints(1, 1, classes, 1));
            boxes = op.reshape(each, 0, -1, 4);
        }
        String known = op.add("Where", op.unsqueeze(there, 2), boxes, zero);
        String farthest = op.graph().reduce("ReduceMax", known, List.of(1L, 2L), true);
        String spacing =
                op.add("Add", op.add("Max", farthest, zero), op.scalarOf(1, DataType.FLOAT));
        String shifted = op.add("Add", known, op.add("Mul", spacing, groups(op, classes)));
        String found =
                op.add(
                        "NonMaxSuppression",
                        shifted,
                        op.unsqueeze(op.add("Where", there, scores, least), 1),
                        op.number(5),
                        op.reshape(op.scalarOf(op.real(3), DataType.FLOAT), 1),
                        op.reshape(least, 1));
        return perImage(op, found);
    }

    /** Returns the group of each pair of box and class, {@code [1, R * C, 1]}. */
    private static String groups(Operator op, long classes) {
        String first = op.unsqueeze(op.add("Mul", op.tensor(2), op.index(classes)), 1);
        String all = op.add("Add", first, op.ints(LongStream.range(0, classes).toArray()));
        return op.cast(op.reshape(all, 1, -1, 1), DataType.INT64, DataType.FLOAT);
    }

    /**
     * Splits rows (image, class, position), sorted by image, into positions {@code [N, most]} and
     * counts {@code [N]}.
     */
    private static List<String> perImage(Operator op, String rows) {
        String images = op.size(op.tensor(1), 0, 1);
        String image = op.gather(rows, op.index(0), 1);
        String position = op.gather(rows, op.index(2), 1);
        String same = op.add("Equal", op.unsqueeze(op.range(op.squeezed(images)), 1), image);
        String counts =
                op.add(
                        "ReduceSum",
                        List.of(op.cast(same, DataType.BOOL, DataType.INT64), op.ints(1)),
                        attribute("keepdims", false));
        String starts =
                op.add("CumSum", List.of(counts, op.index(0)), attribute("exclusive", true));
        String selected = op.range(op.squeezed(op.size(rows, 0, 1)));
        String place = op.add("Sub", selected, op.add("Gather", starts, image));
        String indices = op.concat(List.of(op.unsqueeze(image, 1), op.unsqueeze(place, 1)), 1);
        String none = op.add("Expand", op.index(0), op.concat(List.of(images, op.number(5)), 0));
        return List.of(op.add("ScatterND", none, indices, position), counts);
    }

    /** Pools the regions of each level and scatters the results to their rows. */
    private static String roiAlign(Operator op) {
        List<String> maps = op.tensors(0);
        List<Argument> scales = op.items(3);
        List<Long> size = op.integers(4);
        String rois = op.integer(5) == 0 && op.flag(6) ? withoutEmpty(op) : op.tensor(1);
        String channels = op.size(maps.get(0), 1, 2);
        String window = op.ints(size.get(0), size.get(1));
        String shape = op.concat(List.of(op.size(rois, 0, 1), channels, window), 0);
        String pooled = op.add("Expand", op.constant(0), shape);
        DataType type = OnnxTypes.of(((Argument.TensorRef) op.items(0).get(0)).value());
        for (int l = 0; l < maps.size(); l++) {
            String here = op.add("Equal", op.tensor(2), op.index(l));
            String rows = op.transpose(op.add("NonZero", here), List.of(1L, 0L));
            String members = op.add("GatherND", rois, rows);
            String image =
                    op.cast(op.gather(members, op.index(0), 1), DataType.FLOAT, DataType.INT64);
            String boxes = op.slice(members, 1, op.ints(1), op.ints(5), 1);
            double scale = scale(scales.get(l));
            String part =
                    op.add(
                            "RoiAlign",
                            // 16 bits are not enough for coordinates.
                            List.of(op.cast(maps.get(l), type, DataType.FLOAT), boxes, image),
                            attribute("output_height", size.get(0)),
                            attribute("output_width", size.get(1)),
                            attribute("sampling_ratio", op.integer(5)),
                            attribute("spatial_scale", (float) scale),
                            attribute(
                                    "coordinate_transformation_mode",
                                    op.flag(6) ? "half_pixel" : "output_half_pixel"));
            pooled = op.add("ScatterND", pooled, rows, op.cast(part, DataType.FLOAT, op.type()));
        }
        return pooled;
    }

    private static double scale(Argument scale) {
        return ((Number) ((Argument.Literal) scale).value()).doubleValue();
    }

    /**
     * Moves empty regions, such as padding, to a region of one cell outside the maps. Both give 0,
     * but OpenVINO returns NaN for empty regions.
     */
    private static String withoutEmpty(Operator op) {
        String rois = op.tensor(1);
        String starts = op.slice(rois, 1, op.ints(1), op.ints(3), 1);
        String ends = op.slice(rois, 1, op.ints(3), op.ints(5), 1);
        String sides = op.add("Sub", ends, starts);
        String shorter = op.graph().reduce("ReduceMin", sides, List.of(1L), true);
        String hasArea = op.add("Greater", shorter, op.scalarOf(MIN_SIDE, DataType.FLOAT));
        double cell = op.items(3).stream().mapToDouble(each -> 1 / scale(each)).max().orElseThrow();
        String image = op.slice(rois, 1, op.ints(0), op.ints(1), 1);
        String from = op.scalarOf(-4 * cell, DataType.FLOAT);
        String to = op.scalarOf(-3 * cell, DataType.FLOAT);
        return op.concat(
                List.of(
                        image,
                        op.add("Where", hasArea, starts, from),
                        op.add("Where", hasArea, ends, to)),
                1);
    }
}

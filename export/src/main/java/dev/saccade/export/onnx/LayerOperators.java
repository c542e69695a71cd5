package dev.saccade.export.onnx;

import static dev.saccade.export.onnx.OnnxGraph.attribute;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.export.Graph;

import java.util.ArrayList;
import java.util.List;

/** Products, convolutions, normalizations, pooling and interpolation. */
final class LayerOperators {

    static final ImmutableMap<String, Operator.Converter> CONVERTERS =
            ImmutableMap.<String, Operator.Converter>builder()
                    .put("aten::conv2d", LayerOperators::convolution)
                    .put("aten::conv_transpose2d", LayerOperators::transposedConvolution)
                    .put("aten::linear", LayerOperators::linear)
                    .put(Graph.FAKE_QUANTIZE, LayerOperators::fakeQuantize)
                    .put(Graph.DEQUANTIZE, LayerOperators::dequantize)
                    .put("aten::baddbmm", LayerOperators::baddbmm)
                    .put("aten::scaled_dot_product_attention", LayerOperators::attention)
                    .put("aten::batch_norm", LayerOperators::batchNorm)
                    .put("aten::layer_norm", LayerOperators::layerNorm)
                    .put("aten::group_norm", LayerOperators::groupNorm)
                    .put("aten::softmax", op -> softmax(op, op.tensor(0), op.axis(1)))
                    .put("aten::max_pool2d", op -> pool(op, "MaxPool"))
                    .put("aten::avg_pool2d", op -> pool(op, "AveragePool"))
                    .put("aten::adaptive_avg_pool2d", LayerOperators::adaptivePool)
                    .put("aten::pixel_shuffle", LayerOperators::pixelShuffle)
                    .put("aten::upsample_nearest2d", LayerOperators::nearest)
                    .put("aten::upsample_bilinear2d", op -> interpolated(op, "linear"))
                    .put("aten::upsample_bicubic2d", op -> interpolated(op, "cubic"))
                    .buildOrThrow();

    private LayerOperators() {}

    private static AttributeProto pads(List<Long> padding) {
        List<Long> both = new ArrayList<>(padding);
        both.addAll(padding);
        return attribute("pads", both);
    }

    private static String convolution(Operator op) {
        return op.add(
                "Conv",
                List.of(op.tensors()),
                attribute("strides", op.integers(3)),
                pads(op.integers(4)),
                attribute("dilations", op.integers(5)),
                attribute("group", op.integer(6)));
    }

    private static String transposedConvolution(Operator op) {
        return op.add(
                "ConvTranspose",
                List.of(op.tensors()),
                attribute("strides", op.integers(3)),
                pads(op.integers(4)),
                attribute("output_padding", op.integers(5)),
                attribute("group", op.integer(6)),
                attribute("dilations", op.integers(7)));
    }

    private static String linear(Operator op) {
        String matrix =
                op.writer()
                        .transposed(op.node().value(1))
                        .orElseGet(() -> op.swapAxes(op.tensor(1), 2, 0, 1));
        String product = op.add("MatMul", op.tensor(0), matrix);
        return op.optional(2).map(bias -> op.add("Add", product, bias)).orElse(product);
    }

    private static String fakeQuantize(Operator op) {
        String scale = op.scalarOf(op.real(1), DataType.FLOAT);
        String zero = op.scalarOf(op.integer(2), DataType.UINT8);
        String integers = op.add("QuantizeLinear", op.tensor(0), scale, zero);
        return op.add("DequantizeLinear", integers, scale, zero);
    }

    private static String dequantize(Operator op) {
        return op.add("DequantizeLinear", List.of(op.tensors()), attribute("axis", op.integer(3)));
    }

    private static String baddbmm(Operator op) {
        return op.add("Add", op.tensor(0), op.add("MatMul", op.tensor(1), op.tensor(2)));
    }

    private static String attention(Operator op) {
        int axes = op.axes(0);
        long depth = op.node().value(0).sizes().get(axes - 1);
        String scale = op.scalarOf(1 / Math.sqrt((double) depth), op.type());
        String queries = op.add("Mul", op.tensor(0), scale);
        String keys = op.swapAxes(op.tensor(1), axes, axes - 2, axes - 1);
        String weights = softmax(op, op.add("MatMul", queries, keys), axes - 1);
        return op.add("MatMul", weights, op.tensor(2));
    }

    private static String softmax(Operator op, String x, int axis) {
        return op.add("Softmax", List.of(x), attribute("axis", axis));
    }

    private static String batchNorm(Operator op) {
        List<String> inputs = new ArrayList<>(List.of(op.tensors()));
        inputs.set(0, op.tensor(0, DataType.FLOAT));
        String normal =
                op.add("BatchNormalization", inputs, attribute("epsilon", (float) op.real(7)));
        return op.cast(normal, DataType.FLOAT, op.type());
    }

    private static String layerNorm(Operator op) {
        // Unlike ONNX, libtorch supports 16-bit input with 32-bit weights.
        List<String> inputs = new ArrayList<>(List.of(op.tensors()));
        inputs.set(0, op.tensor(0, DataType.FLOAT));
        String normal =
                op.add(
                        "LayerNormalization",
                        inputs,
                        attribute("axis", -(long) op.integers(1).size()),
                        attribute("epsilon", (float) op.real(4)));
        return op.cast(normal, DataType.FLOAT, op.type());
    }

    /** Writes instance normalization over groups, then scale and shift per channel. */
    private static String groupNorm(Operator op) {
        long groups = op.integer(1);
        String shape = op.size(op.tensor(0), 0, op.axes(0));
        String grouped = op.reshape(op.tensor(0, DataType.FLOAT), 0, groups, -1);
        String one = op.add("Expand", op.scalarOf(1, DataType.FLOAT), op.ints(groups));
        String none = op.add("Expand", op.scalarOf(0, DataType.FLOAT), op.ints(groups));
        String normal =
                op.add(
                        "InstanceNormalization",
                        List.of(grouped, one, none),
                        attribute("epsilon", (float) op.real(4)));
        String map = op.add("Reshape", normal, shape);
        String scaled = op.add("Mul", map, op.reshape(op.tensor(2), -1, 1, 1));
        String all = op.add("Add", scaled, op.reshape(op.tensor(3), -1, 1, 1));
        return op.cast(all, DataType.FLOAT, op.type());
    }

    private static String pool(Operator op, String type) {
        boolean isMax = type.equals("MaxPool");
        return op.add(
                type,
                List.of(op.tensor(0)),
                attribute("kernel_shape", op.integers(1)),
                attribute("strides", op.integers(op.integers(2).isEmpty() ? 1 : 2)),
                pads(op.integers(3)),
                attribute("ceil_mode", op.flag(isMax ? 5 : 4)),
                isMax
                        ? attribute("dilations", op.integers(4))
                        : attribute("count_include_pad", op.flag(5)));
    }

    /** Adaptive average pooling as matrix products, since ONNX requires cells of equal size. */
    private static String adaptivePool(Operator op) {
        List<Long> output = op.integers(1);
        if (output.equals(List.of(1L, 1L))) {
            return op.add("GlobalAveragePool", op.tensor(0));
        }
        String rows = op.add("MatMul", means(op, 2, output.get(0)), op.tensor(0));
        return op.add("MatMul", rows, op.swapAxes(means(op, 3, output.get(1)), 2, 0, 1));
    }

    /**
     * Returns averaging weights {@code [parts, size]}. Row i covers the cells from floor(i size /
     * parts) to ceil((i + 1) size / parts), exclusive.
     */
    private static String means(Operator op, int axis, long parts) {
        String size = op.size(op.tensor(0), axis, axis + 1);
        String cells = op.range(op.squeezed(size));
        String part = op.unsqueeze(op.range(op.index(parts)), 1);
        String first = op.add("Div", op.add("Mul", part, size), op.ints(parts));
        String scaled = op.add("Mul", op.add("Add", part, op.index(1)), size);
        String end = op.add("Div", op.add("Add", scaled, op.ints(parts - 1)), op.ints(parts));
        String isAfter = op.add("GreaterOrEqual", cells, first);
        String isInside = op.add("And", isAfter, op.add("Less", cells, end));
        String inside = op.cast(isInside, DataType.BOOL, op.type());
        return op.add("Div", inside, op.add("ReduceSum", inside, op.ints(1)));
    }

    private static String pixelShuffle(Operator op) {
        return op.add(
                "DepthToSpace",
                List.of(op.tensor(0)),
                attribute("blocksize", op.integer(1)),
                attribute("mode", "CRD"));
    }

    private static String resized(Operator op, AttributeProto... attributes) {
        List<String> sizes = new ArrayList<>(List.of(op.size(op.tensor(0), 0, 2)));
        op.items(1).forEach(size -> sizes.add(op.number(size)));
        return op.add("Resize", List.of(op.tensor(0), "", "", op.concat(sizes, 0)), attributes);
    }

    private static String nearest(Operator op) {
        return resized(
                op,
                attribute("mode", "nearest"),
                attribute("coordinate_transformation_mode", "asymmetric"),
                attribute("nearest_mode", "floor"));
    }

    private static String interpolated(Operator op, String mode) {
        return resized(
                op,
                attribute("mode", mode),
                attribute("cubic_coeff_a", -0.75f),
                attribute(
                        "coordinate_transformation_mode",
                        op.flag(2) ? "align_corners" : "half_pixel"));
    }
}

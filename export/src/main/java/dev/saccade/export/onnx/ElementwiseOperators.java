package dev.saccade.export.onnx;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.export.Graph.Argument;

/** Element-wise operators, matrix products and embedding. */
final class ElementwiseOperators {

    /** ONNX operators with the same inputs, by libtorch operator. */
    private static final ImmutableMap<String, String> SAME =
            ImmutableMap.<String, String>builder()
                    .put("aten::neg", "Neg")
                    .put("aten::exp", "Exp")
                    .put("aten::log", "Log")
                    .put("aten::abs", "Abs")
                    .put("aten::sqrt", "Sqrt")
                    .put("aten::floor", "Floor")
                    .put("aten::ceil", "Ceil")
                    .put("aten::relu", "Relu")
                    .put("aten::tanh", "Tanh")
                    .put("aten::minimum", "Min")
                    .put("aten::maximum", "Max")
                    .put("aten::matmul", "MatMul")
                    .put("aten::bmm", "MatMul")
                    .put("aten::mm", "MatMul")
                    .put("aten::embedding", "Gather")
                    .buildOrThrow();

    static final ImmutableMap<String, Operator.Converter> CONVERTERS =
            ImmutableMap.<String, Operator.Converter>builder()
                    .putAll(Maps.transformValues(SAME, type -> op -> op.add(type, op.tensors())))
                    .put("aten::add", op -> sum(op, "Add"))
                    .put("aten::sub", op -> sum(op, "Sub"))
                    .put("aten::mul", op -> withNumber(op, "Mul"))
                    .put("aten::div", op -> withNumber(op, "Div"))
                    .put("aten::pow", op -> withNumber(op, "Pow"))
                    .put("aten::log2", ElementwiseOperators::log2)
                    .put("aten::nan_to_num", ElementwiseOperators::nanToNum)
                    .put("aten::addcmul", ElementwiseOperators::addcmul)
                    .put("aten::rsqrt", op -> op.add("Reciprocal", op.add("Sqrt", op.tensor(0))))
                    .put("aten::sigmoid", ElementwiseOperators::sigmoid)
                    .put("aten::gelu", ElementwiseOperators::gelu)
                    .put("aten::clamp", ElementwiseOperators::clamp)
                    .put("aten::logaddexp", ElementwiseOperators::logaddexp)
                    .put("aten::remainder", ElementwiseOperators::remainder)
                    .put("aten::floor_divide", ElementwiseOperators::floorDivide)
                    .put("aten::eq", op -> compared(op, "Equal"))
                    .put("aten::ne", op -> op.add("Not", compared(op, "Equal")))
                    .put("aten::gt", op -> compared(op, "Greater"))
                    .put("aten::ge", op -> compared(op, "GreaterOrEqual"))
                    .put("aten::lt", op -> compared(op, "Less"))
                    .put("aten::le", op -> compared(op, "LessOrEqual"))
                    .put("aten::logical_and", op -> logical(op, "And"))
                    .put("aten::logical_or", op -> logical(op, "Or"))
                    .put("aten::logical_not", op -> op.add("Not", op.tensor(0, DataType.BOOL)))
                    .put("aten::where", ElementwiseOperators::where)
                    .put("aten::masked_fill", ElementwiseOperators::maskedFill)
                    .put("aten::type_as", op -> op.tensor(0, op.type()))
                    .put("aten::to", op -> op.tensor(0, op.type()))
                    .buildOrThrow();

    private ElementwiseOperators() {}

    private static String where(Operator op) {
        return op.add("Where", op.tensor(0), value(op, 1), value(op, 2));
    }

    private static String maskedFill(Operator op) {
        return op.add("Where", op.tensor(1), value(op, 2), op.tensor(0));
    }

    private static String withNumber(Operator op, String type) {
        return op.add(type, op.tensor(0, op.type()), value(op, 1));
    }

    /** Returns the tensor or number at a position, converted to the type of the result. */
    private static String value(Operator op, int place) {
        return op.optional(place).isPresent() ? op.tensor(place, op.type()) : op.scalar(place);
    }

    /** Writes a sum or difference; {@code alpha} is positional for numbers, named for tensors. */
    private static String sum(Operator op, String type) {
        ImmutableList<Argument> given = op.node().arguments();
        Argument factor = given.size() > 2 ? given.get(2) : op.node().keywords().get("alpha");
        Number alpha = factor instanceof Argument.Literal one ? (Number) one.value() : 1;
        String second = value(op, 1);
        if (alpha.doubleValue() != 1) {
            second = op.add("Mul", second, op.constant(alpha));
        }
        return op.add(type, op.tensor(0, op.type()), second);
    }

    private static String gelu(Operator op) {
        String x = op.tensor(0);
        String scaled = op.add("Div", x, op.constant(Math.sqrt(2)));
        String share = op.add("Add", op.add("Erf", scaled), op.constant(1));
        return op.add("Mul", op.add("Mul", x, share), op.constant(0.5));
    }

    /**
     * {@code 1 / (1 + e^-x)}: ONNX Runtime's sigmoid is 0 below -18, which reorders small scores.
     */
    private static String sigmoid(Operator op) {
        String inverse = op.add("Exp", op.add("Neg", op.tensor(0, DataType.FLOAT)));
        String sum = op.add("Add", inverse, op.scalarOf(1, DataType.FLOAT));
        return op.cast(op.add("Reciprocal", sum), DataType.FLOAT, op.type());
    }

    private static String log2(Operator op) {
        String log = op.add("Log", op.tensor(0));
        return op.add("Div", log, op.constant(Math.log(2)));
    }

    private static String nanToNum(Operator op) {
        return op.add("Where", op.add("IsNaN", op.tensor(0)), op.scalar(1), op.tensor(0));
    }

    private static String addcmul(Operator op) {
        return op.add("Add", op.tensor(0), op.add("Mul", op.tensor(1), op.tensor(2)));
    }

    private static String clamp(Operator op) {
        String x = op.tensor(0, op.type());
        if (!op.isNone(1)) {
            x = op.add("Max", x, op.scalar(1));
        }
        boolean isBounded = op.node().arguments().size() > 2 && !op.isNone(2);
        return isBounded ? op.add("Min", x, op.scalar(2)) : x;
    }

    /** {@code log(e^a + e^b)} without overflow. */
    private static String logaddexp(Operator op) {
        String a = op.tensor(0);
        String b = op.tensor(1);
        String negativeDistance = op.add("Neg", op.add("Abs", op.add("Sub", a, b)));
        String more = op.add("Add", op.add("Exp", negativeDistance), op.constant(1));
        return op.add("Add", op.add("Max", a, b), op.add("Log", more));
    }

    private static String remainder(Operator op) {
        String divisor = value(op, 1);
        String x = op.tensor(0, op.type());
        if (op.type() == DataType.INT64 || op.type() == DataType.INT32) {
            return op.add("Mod", x, divisor);
        }
        String times = op.add("Floor", op.add("Div", x, divisor));
        return op.add("Sub", x, op.add("Mul", times, divisor));
    }

    private static String floorDivide(Operator op) {
        String quotient = op.add("Div", op.tensor(0, op.type()), value(op, 1));
        // Integers here are not negative, so truncation is floor.
        return op.type() == DataType.FLOAT ? op.add("Floor", quotient) : quotient;
    }

    private static String compared(Operator op, String type) {
        DataType first = OnnxTypes.of(op.node().value(0));
        if (op.optional(1).isPresent()) {
            DataType both = OnnxTypes.common(first, OnnxTypes.of(op.node().value(1)));
            return op.add(type, op.tensor(0, both), op.tensor(1, both));
        }
        return op.add(type, op.tensor(0), op.scalar(1, first));
    }

    private static String logical(Operator op, String type) {
        return op.add(type, op.tensor(0, DataType.BOOL), op.tensor(1, DataType.BOOL));
    }
}

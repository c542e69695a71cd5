package dev.saccade.export.onnx;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;

import java.util.List;

/** Operators that look at each element by itself. */
final class Arithmetic {

    static final ImmutableMap<String, Operator.Converter> CONVERTERS =
            ImmutableMap.<String, Operator.Converter>builder()
                    .put("aten::add", op -> sum(op, "Add"))
                    .put("aten::sub", op -> sum(op, "Sub"))
                    .put("aten::mul", op -> op.add("Mul", op.tensor(0, op.type()), other(op)))
                    .put("aten::div", op -> op.add("Div", op.tensor(0, op.type()), other(op)))
                    .put("aten::pow", op -> op.add("Pow", op.tensor(0, op.type()), other(op)))
                    .put("aten::minimum", op -> op.add("Min", op.tensor(0), op.tensor(1)))
                    .put("aten::maximum", op -> op.add("Max", op.tensor(0), op.tensor(1)))
                    .put("aten::neg", op -> op.add("Neg", op.tensor(0)))
                    .put("aten::exp", op -> op.add("Exp", op.tensor(0)))
                    .put("aten::log", op -> op.add("Log", op.tensor(0)))
                    .put("aten::log2", Arithmetic::log2)
                    .put("aten::nan_to_num", Arithmetic::nanToNum)
                    .put("aten::addcmul", Arithmetic::addcmul)
                    .put("aten::abs", op -> op.add("Abs", op.tensor(0)))
                    .put("aten::sqrt", op -> op.add("Sqrt", op.tensor(0)))
                    .put("aten::rsqrt", op -> op.add("Reciprocal", op.add("Sqrt", op.tensor(0))))
                    .put("aten::floor", op -> op.add("Floor", op.tensor(0)))
                    .put("aten::ceil", op -> op.add("Ceil", op.tensor(0)))
                    .put("aten::relu", op -> op.add("Relu", op.tensor(0)))
                    .put("aten::sigmoid", Arithmetic::sigmoid)
                    .put("aten::tanh", op -> op.add("Tanh", op.tensor(0)))
                    .put("aten::gelu", Arithmetic::gelu)
                    .put("aten::clamp", Arithmetic::clamp)
                    .put("aten::logaddexp", Arithmetic::logaddexp)
                    .put("aten::remainder", Arithmetic::remainder)
                    .put("aten::floor_divide", Arithmetic::floorDivide)
                    .put("aten::eq", op -> compared(op, "Equal"))
                    .put("aten::ne", op -> op.add("Not", compared(op, "Equal")))
                    .put("aten::gt", op -> compared(op, "Greater"))
                    .put("aten::ge", op -> compared(op, "GreaterOrEqual"))
                    .put("aten::lt", op -> compared(op, "Less"))
                    .put("aten::le", op -> compared(op, "LessOrEqual"))
                    .put("aten::logical_and", op -> logical(op, "And"))
                    .put("aten::logical_or", op -> logical(op, "Or"))
                    .put("aten::logical_not", op -> op.add("Not", op.tensor(0, DataType.BOOL)))
                    .put("aten::where", Arithmetic::where)
                    .put("aten::masked_fill", Arithmetic::maskedFill)
                    .put("aten::type_as", op -> op.tensor(0, op.type()))
                    .put("aten::to", op -> op.tensor(0, op.type()))
                    .buildOrThrow();

    private Arithmetic() {}

    /** The second operand, a tensor or a number, of the type of the result. */
    private static String other(Operator op) {
        return op.optional(1).map(tensor -> op.tensor(1, op.type())).orElseGet(() -> op.scalar(1));
    }

    private static String sum(Operator op, String type) {
        String second = other(op);
        Node node = op.node();
        Argument factor = node.keywords().getOrDefault("alpha", alpha(node));
        Number alpha = (Number) ((Argument.Literal) factor).value();
        if (alpha.doubleValue() != 1) {
            second = op.add("Mul", second, op.graph().scalar(alpha, op.type()));
        }
        return op.add(type, op.tensor(0, op.type()), second);
    }

    /** The factor of the second operand, which numbers have in a place, and tensors by name. */
    private static Argument alpha(Node node) {
        return node.arguments().size() > 2 ? node.arguments().get(2) : new Argument.Literal(1L);
    }

    private static String gelu(Operator op) {
        String x = op.tensor(0);
        String scaled = op.add("Div", x, op.graph().scalar(Math.sqrt(2), op.type()));
        String share = op.add("Add", op.add("Erf", scaled), op.graph().scalar(1, op.type()));
        return op.add("Mul", op.add("Mul", x, share), op.graph().scalar(0.5, op.type()));
    }

    /**
     * {@code 1 / (1 + e^-x)}, since ONNX Runtime's own is 0 from -18 on: scores would be alike that
     * are not, and come in another order.
     */
    private static String sigmoid(Operator op) {
        String inverse = op.add("Exp", op.add("Neg", op.tensor(0, DataType.FLOAT)));
        String sum = op.add("Add", inverse, op.graph().scalar(1, DataType.FLOAT));
        return op.cast(op.add("Reciprocal", sum), DataType.FLOAT, op.type());
    }

    private static String log2(Operator op) {
        String log = op.add("Log", op.tensor(0));
        return op.add("Div", log, op.graph().scalar(Math.log(2), op.type()));
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

    /** {@code log(e^a + e^b)}, the greater one taken out. */
    private static String logaddexp(Operator op) {
        String a = op.tensor(0);
        String b = op.tensor(1);
        String apart = op.add("Neg", op.add("Abs", op.add("Sub", a, b)));
        String more = op.add("Add", op.add("Exp", apart), op.graph().scalar(1, op.type()));
        return op.add("Add", op.add("Max", a, b), op.add("Log", more));
    }

    private static String remainder(Operator op) {
        String divisor = other(op);
        String x = op.tensor(0, op.type());
        if (op.type() == DataType.INT64 || op.type() == DataType.INT32) {
            return op.add("Mod", x, divisor);
        }
        String times = op.add("Floor", op.add("Div", x, divisor));
        return op.add("Sub", x, op.add("Mul", times, divisor));
    }

    private static String floorDivide(Operator op) {
        String quotient = op.add("Div", op.tensor(0, op.type()), other(op));
        // Of whole numbers that are not negative, as positions are, it is the same.
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

    private static String where(Operator op) {
        List<String> cases =
                List.of(1, 2).stream()
                        .map(
                                k ->
                                        op.optional(k).isPresent()
                                                ? op.tensor(k, op.type())
                                                : op.scalar(k))
                        .toList();
        return op.add("Where", op.tensor(0), cases.get(0), cases.get(1));
    }

    private static String maskedFill(Operator op) {
        String value = op.optional(2).isPresent() ? op.tensor(2, op.type()) : op.scalar(2);
        return op.add("Where", op.tensor(1), value, op.tensor(0));
    }
}

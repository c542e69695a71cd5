package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/**
 * Expected initialization of a parameter, derived from its name, shape and family.
 *
 * @param deviation standard deviation; 0 for constants
 * @param bound maximum absolute value
 */
record FirstValues(double mean, double deviation, double bound) {

    /** Families that initialize convolutions with Kaiming normal; others use PyTorch's default. */
    private static final Set<String> KAIMING_NORMAL = Set.of("resnet", "linglo");

    private static final FirstValues ZERO = new FirstValues(0, 0, 0);
    private static final FirstValues ONE = new FirstValues(1, 0, 1);
    private static final FirstValues TRUNCATED_NORMAL = new FirstValues(0, 0.02, 2);

    /** Tolerance in standard errors. */
    private static final double ERRORS = 6;

    private static final int SAMPLE = 20_000;

    static FirstValues expected(String family, String key, Map<String, Parameter> all) {
        Shape shape = all.get(key).getShape();
        String owner = key.substring(0, key.lastIndexOf('.') + 1);
        if (owner.endsWith("attn.attn.")) { // ELSA's strict form
            return TRUNCATED_NORMAL;
        }
        return switch (key.substring(owner.length())) {
            case "running_mean" -> ZERO;
            case "running_var" -> ONE;
            case "weight" ->
                    switch (shape.dimension()) {
                        case 4 -> convolution(family, shape);
                        case 2 -> TRUNCATED_NORMAL;
                        default -> endsResidual(owner, all) ? ZERO : ONE;
                    };
            case "bias" -> {
                Parameter weight = all.get(owner + "weight");
                boolean asWeight =
                        weight != null
                                && weight.getShape().dimension() == 4
                                && !KAIMING_NORMAL.contains(family);
                yield asWeight ? convolution(family, weight.getShape()) : ZERO;
            }
            case "std" -> new FirstValues(0, Math.sqrt(2) / 7, Double.MAX_VALUE); // DDF, 7x7
            case "relative_position_bias_table" -> family.equals("focal") ? ZERO : TRUNCATED_NORMAL;
            default -> TRUNCATED_NORMAL;
        };
    }

    /** Returns whether a normalization is the last one of a ResNet block. */
    private static boolean endsResidual(String owner, Map<String, Parameter> all) {
        String last = all.containsKey(owner.replace(".bn2.", ".bn3.") + "weight") ? "bn3" : "bn2";
        return owner.matches("layer\\d\\.\\d+\\." + last + "\\.");
    }

    private static FirstValues convolution(String family, Shape weight) {
        double taps = weight.slice(2).size();
        if (KAIMING_NORMAL.contains(family)) {
            // A depth-wise filter has one input channel.
            long out = weight.get(1) == 1 ? 1 : weight.get(0);
            return new FirstValues(0, Math.sqrt(2.0 / (out * taps)), Double.MAX_VALUE);
        }
        double bound = 1 / Math.sqrt(weight.get(1) * taps);
        return new FirstValues(0, bound / Math.sqrt(3), bound);
    }

    void check(String key, Parameter parameter) {
        NDArray values = parameter.getArray();
        int count = (int) Math.min(SAMPLE, values.size());
        float[] sample = values.flatten().get("0:" + count).toFloatArray();
        if (deviation == 0) {
            float[] constant = new float[sample.length];
            Arrays.fill(constant, (float) mean);
            assertArrayEquals(constant, sample, key);
            return;
        }
        double sum = 0;
        double squares = 0;
        for (float value : sample) {
            sum += value;
            squares += Math.pow(value - mean, 2);
            assertTrue(Math.abs(value) <= bound + 1e-6, key + ": " + value);
        }
        double error = ERRORS / Math.sqrt(count);
        assertEquals(mean, sum / count, error * deviation, key);
        assertEquals(deviation, Math.sqrt(squares / count), error * deviation, key);
    }
}

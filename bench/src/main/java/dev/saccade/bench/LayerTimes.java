package dev.saccade.bench;

import com.google.common.base.Joiner;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.nn.LayerProfile;
import dev.saccade.core.ops.script.Roofline;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Time of each layer of a prediction, in the order in which the layers finish.
 *
 * @param input number and size of the images
 * @param classes number of classes
 * @param seconds median time of the prediction
 * @param layers layers that take at least {@link #MIN_FRACTION} of the time
 * @param otherSeconds time of the other layers and of everything outside of layers, such as NMS
 * @param roofline peak rates of the CPU; null without fused operators
 */
public record LayerTimes(
        String name,
        String input,
        int classes,
        double seconds,
        List<LayerProfile.Entry> layers,
        double otherSeconds,
        Roofline roofline) {

    private static final double MIN_FRACTION = 0.001;

    private static final String NOTE =
            "Rates count the products of the algorithm: a Winograd convolution (3x3, stride 1) has"
                    + " a quarter of the products of a direct one."
                    + System.lineSeparator()
                    + "Layers can exceed 100 %: int8 and bfloat16 products are faster than float32,"
                    + " and the cache is faster than memory."
                    + System.lineSeparator()
                    + "If other processes are running, the measured peak is too low, and all"
                    + " percentages are too high.";

    private static final String COLUMNS = "%-46s %-17s %-18s %5s %9s %6s %16s %7s %-6s %s%n";

    static LayerTimes of(ModelBench.Input input, double seconds, List<LayerProfile.Entry> all) {
        List<LayerProfile.Entry> layers =
                all.stream().filter(each -> each.seconds() >= MIN_FRACTION * seconds).toList();
        double listed = layers.stream().mapToDouble(LayerProfile.Entry::seconds).sum();
        return new LayerTimes(
                input.name(),
                input.images() + " x " + input.size(),
                input.classes(),
                seconds,
                layers,
                Math.max(0, seconds - listed),
                Roofline.measure().orElse(null));
    }

    @Override
    public String toString() {
        return Printable.format(
                        "%s, prediction of %s, %s: %.1f ms%n",
                        name, input, Count.of(classes, "class"), seconds * 1e3)
                + Text.format(
                        COLUMNS,
                        "layer",
                        "type",
                        "output",
                        "calls",
                        "ms",
                        "%",
                        "rate",
                        "of peak",
                        "format",
                        "precision")
                + layers.stream().map(this::line).collect(Collectors.joining())
                + Text.format(
                        "%-46s %53.2f %6.1f%n", "other", otherSeconds * 1e3, percent(otherSeconds))
                + (roofline == null
                        ? "peak: unknown without fused operators"
                        : Text.format(
                                "peak: %.0f GFLOP/s with float32 products, %.1f GB/s copying"
                                        + " memory%n%s",
                                roofline.operations() / 1e9, roofline.bytes() / 1e9, NOTE));
    }

    private String line(LayerProfile.Entry layer) {
        boolean multiplies = layer.multiplyAdds() > 0;
        double rate = (multiplies ? 2.0 * layer.multiplyAdds() : layer.bytes()) / layer.seconds();
        return Printable.format(
                COLUMNS,
                layer.path(),
                layer.type(),
                Joiner.on('x').join(layer.output()),
                layer.calls(),
                Text.format("%.2f", layer.seconds() * 1e3),
                Text.format("%.1f", percent(layer.seconds())),
                Text.format("%.0f %s", rate / 1e9, multiplies ? "GFLOP/s" : "GB/s"),
                roofline == null
                        ? "-"
                        : Text.format(
                                "%.0f %%",
                                100
                                        * rate
                                        / (multiplies ? roofline.operations() : roofline.bytes())),
                layer.format(),
                layer.precision());
    }

    private double percent(double part) {
        return 100 * part / seconds;
    }
}

package dev.saccade.models;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Size of a model and cost of its forward pass.
 *
 * @param multiplyAdds see {@link Model#multiplyAdds}
 * @param countedObjects number of proposals and masks that {@code multiplyAdds} assumes
 * @param features shape of each feature level that the head receives
 * @param peakMemoryMiB peak resident memory of the process since its start
 */
public record ModelSummary(
        String name,
        long parameters,
        long trainableParameters,
        Map<String, Long> parametersByPart,
        String input,
        long multiplyAdds,
        Map<String, Integer> countedObjects,
        List<String> features,
        long peakMemoryMiB) {

    /** Builds a model, predicts one image on the CPU, and returns the summary. */
    public static ModelSummary measure(
            String name, ModelConfig config, Size size, int classes, int channels) {
        Model<?> model = config.build(Collections.nCopies(classes, "class"), channels);
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            model.initialize(manager, 0);
            model.train(false);
            NDArray pixels = manager.zeros(new Shape(1, channels, size.height(), size.width()));
            ImageBatch batch = new ImageBatch(pixels, List.of(ImageInfo.of(size)));
            List<String> features = NoGrad.call(() -> shapes(model, batch));
            model.predict(batch);
            return new ModelSummary(
                    name,
                    model.parameterCount(),
                    trainable(model),
                    byPart(model),
                    channels == 3
                            ? size.toString()
                            : Text.format("%s with %s", size, Count.of(channels, "channel")),
                    model.multiplyAdds(size),
                    model.dummyObjects(),
                    features,
                    DeviceMemory.peakResidentBytes() >> 20);
        }
    }

    private static long trainable(Module module) {
        return module.namedParameters().values().stream()
                .filter(p -> !Module.isBuffer(p) && p.requiresGradient())
                .mapToLong(p -> p.getShape().size())
                .sum();
    }

    private static Map<String, Long> byPart(Model<?> model) {
        long backbone = model.backbone().parameterCount();
        long neck = model.neck().map(Module::parameterCount).orElse(0L);
        return ImmutableMap.of(
                "backbone", backbone,
                "neck", neck,
                "head", model.parameterCount() - backbone - neck);
    }

    private static List<String> shapes(Model<?> model, ImageBatch batch) {
        FeaturePyramid features = model.features(batch.pixels());
        List<String> shapes = new ArrayList<>();
        for (int i = 0; i < features.size(); i++) {
            long[] shape = features.get(i).getShape().getShape();
            int stride = model.levels().get(i).stride();
            shapes.add(Text.format("stride %d: %s", stride, Arrays.toString(shape)));
        }
        features.levels().forEach(NDArray::close);
        return shapes;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(Printable.line(name)).append('\n');
        text.append(
                Text.format(
                        "  parameters     %.2f M, %.2f M trainable%n",
                        parameters / 1e6, trainableParameters / 1e6));
        parametersByPart.forEach(
                (part, count) ->
                        text.append(Text.format("    %-10s   %.2f M%n", part, count / 1e6)));
        String objects =
                countedObjects.entrySet().stream()
                        .map(each -> Text.format(", %,d %s", each.getValue(), each.getKey()))
                        .collect(Collectors.joining());
        text.append(
                Text.format(
                        "  multiply-adds  %.1f G for an input of %s%s%n",
                        multiplyAdds / 1e9, input, objects));
        text.append(
                Text.format("  features       %s%n", String.join("\n                 ", features)));
        return text.append(
                        Text.format(
                                "  peak memory    %d MiB of this process during prediction",
                                peakMemoryMiB))
                .toString();
    }
}

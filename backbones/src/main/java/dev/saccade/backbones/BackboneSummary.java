package dev.saccade.backbones;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;

import dev.saccade.core.Libtorch;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.conversion.NamePattern;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.stream.Stream;

/**
 * Size and cost of a backbone; {@code docs/papers.md} compares them with the papers.
 *
 * @param parameters number of parameters of the fused backbone with its output normalizations
 * @param trainingParameters number of parameters before fusing
 * @param classifierParameters number of parameters of the ImageNet-1K classifier, as in papers
 * @param multiplyAdds multiply-adds of the fused backbone for one image; FLOPs in papers
 */
public record BackboneSummary(
        String name,
        long parameters,
        long trainingParameters,
        long classifierParameters,
        long multiplyAdds) {

    private static final Size IMAGE = new Size(224, 224);

    private static final int CLASSES = 1000;

    private static final NamePattern OUTPUT_NORMS = new NamePattern("norm{i}.{*}");

    /** Optional classifier parameters, each with one value per channel of the last level. */
    private static final List<String> CLASSIFIER_PARAMETERS =
            List.of("norm.weight", "norm.bias", "cls_token");

    /** Summarizes a backbone at 224x224; {@code name} is its name in configs. */
    public static BackboneSummary measure(String name, Backbone.Config config) {
        return measure(name, config, IMAGE);
    }

    /** Summarizes a backbone; {@code name} is its name in configs, such as {@code swin_tiny}. */
    public static BackboneSummary measure(String name, Backbone.Config config, Size image) {
        Backbone backbone = config.build();
        return new BackboneSummary(
                name,
                fusedParameters(backbone),
                backbone.parameterCount(),
                classifierParameters(config, backbone),
                multiplyAdds(backbone, image));
    }

    /**
     * Counts the parameters of an ImageNet classifier: without output normalizations, but with a
     * linear layer for 1000 classes and the classifier parameters that the checkpoint rules ignore.
     */
    static long classifierParameters(Backbone.Config config, Backbone backbone) {
        List<FeatureInfo> levels = backbone.features();
        long channels = levels.get(levels.size() - 1).channels();
        long outputNorms =
                backbone.namedParameters().entrySet().stream()
                        .filter(entry -> OUTPUT_NORMS.matches(entry.getKey()))
                        .filter(entry -> !Module.isBuffer(entry.getValue()))
                        .mapToLong(entry -> entry.getValue().getShape().size())
                        .sum();
        List<NamePattern> unexpected = config.checkpointRules().unexpected();
        long more =
                CLASSIFIER_PARAMETERS.stream()
                        .filter(name -> unexpected.stream().anyMatch(each -> each.matches(name)))
                        .count();
        return fusedParameters(backbone) - outputNorms + channels * more + (channels + 1) * CLASSES;
    }

    private static long fusedParameters(Backbone backbone) {
        return backbone.parameterCount()
                - descendants(backbone).mapToLong(BackboneSummary::removedByFusing).sum();
    }

    private static long removedByFusing(Block block) {
        return block instanceof PositionEncoding encoding
                ? encoding.parameterCount() - encoding.mergedParameterCount()
                : 0;
    }

    private static Stream<Block> descendants(Block block) {
        return block.getChildren().values().stream()
                .flatMap(child -> Stream.concat(Stream.of(child), descendants(child)));
    }

    private static long multiplyAdds(Backbone backbone, Size image) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            backbone.initializeZeros(manager);
            backbone.train(false);
            backbone.fuse();
            Shape pixels = new Shape(1, 3, image.height(), image.width());
            return MultiplyAdds.count(() -> backbone.apply(manager.zeros(pixels)));
        }
    }
}

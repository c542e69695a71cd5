package dev.saccade.backbones;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.MultiplyAdds;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.parts.Backbone;

import java.util.Optional;

/**
 * How large a backbone is and what it costs, beside what its paper says.
 *
 * @param name such as {@code swin_tiny}
 * @param parameters of the backbone with its output normalisations, fused
 * @param trainingParameters of the backbone as it is trained; more where fusing merges branches
 * @param classifierParameters of the backbone as a classifier of 1000 classes, as papers count
 * @param multiplyAdds of the fused backbone for one image of 224x224, which papers call FLOPs
 * @param published what the paper says, if there is one
 */
public record BackboneSummary(
        String name,
        long parameters,
        long trainingParameters,
        long classifierParameters,
        long multiplyAdds,
        Optional<PublishedFigures> published) {

    private static final Shape IMAGE = new Shape(1, 3, 224, 224);

    /**
     * Builds a backbone, counts and forgets it.
     *
     * @param name the name that configs give it, such as {@code swin_tiny}
     */
    public static BackboneSummary of(String name, Backbone.Config config) {
        Backbone backbone = config.build();
        return new BackboneSummary(
                name,
                backbone.fusedParameterCount(),
                backbone.parameterCount(),
                backbone.classifierParameterCount(),
                multiplyAdds(backbone),
                PublishedFigures.of(name));
    }

    /** Runs the backbone with weights of 0, which cost nothing to make. */
    private static long multiplyAdds(Backbone backbone) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            backbone.namedParameters()
                    .values()
                    .forEach(
                            parameter -> {
                                parameter.setInitializer(
                                        (owner, shape, type) -> owner.zeros(shape));
                                parameter.initialize(manager, DataType.FLOAT32);
                            });
            backbone.train(false);
            backbone.fuse();
            return MultiplyAdds.count(
                    () -> NoGrad.run(() -> backbone.forward(manager.zeros(IMAGE))));
        }
    }
}

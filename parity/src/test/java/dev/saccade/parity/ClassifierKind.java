package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.Configs;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.models.ClassificationModel;
import dev.saccade.models.ModelConfig;

import java.util.List;
import java.util.stream.IntStream;

/** Logits of a classifier with weights in the format of the original code. */
final class ClassifierKind implements Kind {

    private static final Tolerance CLOSE = Tolerance.ofMax(1e-4);

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        ModelConfig config =
                Configs.of(ModelConfig.class, settings.texts("model").toArray(String[]::new));
        List<String> classes =
                IntStream.range(0, settings.integer("classes"))
                        .mapToObj(i -> "class " + i)
                        .toList();
        ClassificationModel model = new ClassificationModel(config, classes);
        model.initialize(recorded.manager(), 0);
        LoadReport report = Weights.restore(recorded.checkpoint("weight:"), model);
        assertTrue(report.isComplete(), report::toString);
        assertEquals(List.of(), report.unexpected());
        model.train(false);
        NDArray pixels = recorded.tensor("x");
        recorded.compare("logits", NoGrad.call(() -> model.logits(pixels)), CLOSE);
    }
}

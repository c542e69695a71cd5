package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

class ClassificationModelTest {

    private static final List<String> CLASSES = List.of("cat", "dog", "owl");

    private static List<ClassScores> predict(float... logits) {
        ClassificationModel model =
                new ClassificationModel(
                        Configs.of(
                                ModelConfig.class,
                                "backbone={type: resnet, depth: 18, stem_channels: 4,"
                                        + " base_channels: 4, out_indices: [3]}",
                                "head={type: linear_cls}"),
                        CLASSES);
        try (NDManager manager = NDManager.newBaseManager()) {
            ImageBatch images =
                    new ImageBatch(
                            manager.zeros(new Shape(1, 3, 32, 32)),
                            List.of(ImageInfo.of(new Size(32, 32))));
            return model.predict(
                    images, pixels -> pixels.getManager().create(logits, new Shape(1, 3)));
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
    void rejectsLogitsOfADivergedModel(float logit) {
        SaccadeException failure = assertThrows(SaccadeException.class, () -> predict(0, logit, 1));
        assertEquals(SaccadeException.Kind.USER, failure.kind());
        assertTrue(failure.getMessage().contains("predicts NaN or infinity"), failure.getMessage());
        assertEquals(2, predict(0, -1000, 1).get(0).best());
    }
}

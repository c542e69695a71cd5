package dev.saccade.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Throwables;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

class SaccadeAutoConfigurationTest {

    @TempDir private static Path folder;
    private static Path detector;
    private static Path segmenter;

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(SaccadeAutoConfiguration.class));

    @BeforeAll
    static void save() {
        List<String> classes = List.of("a", "b");
        detector = TinyModel.RETINANET.save(folder.resolve("detector.safetensors"), classes);
        segmenter = TinyModel.SEMANTIC_FPN.save(folder.resolve("segmenter.safetensors"), classes);
    }

    @Test
    void noModelNeedsNoProperties() {
        runner.run(
                context -> {
                    assertTrue(context.getBean(SaccadeModels.class).names().isEmpty());
                    assertTrue(context.getBeansOfType(Detector.class).isEmpty());
                });
    }

    @Test
    void beansHaveTheTypeOfTheCheckpoint() {
        runner.withPropertyValues(
                        "saccade.model=" + detector,
                        "saccade.device=cpu",
                        "saccade.models.large.model=" + detector,
                        "saccade.models.roads.model=" + segmenter)
                .run(
                        context -> {
                            SaccadeModels models = context.getBean(SaccadeModels.class);
                            assertEquals(Set.of("saccadeModel", "large", "roads"), models.names());
                            Detector primary = context.getBean(Detector.class);
                            assertSame(models.get("saccadeModel"), primary);
                            assertSame(models.get("roads"), context.getBean(Segmenter.class));
                            assertSame(models.get("large"), context.getBean("large"));
                            context.close();
                            assertFalse(primary.isOpen());
                        });
    }

    @Test
    void listsWrongProperties() {
        runner.withPropertyValues(
                        "saccade.model=" + folder.resolve("missing.safetensors"),
                        "saccade.device=gpu",
                        "saccade.scores=high",
                        "saccade.max-batch=0",
                        "saccade.models.large.precision=int3")
                .run(
                        context -> {
                            FailureAnalysis analysis =
                                    new SaccadeFailureAnalyzer()
                                            .analyze(context.getStartupFailure());
                            String message = analysis.getDescription();
                            for (String part :
                                    List.of(
                                            "missing.safetensors: no such file",
                                            "saccade.device: got gpu, expected auto, cpu",
                                            "saccade.scores: got high, expected recommended",
                                            "saccade.max-batch: got 0",
                                            "saccade.models.large.model: is missing",
                                            "saccade.models.large.precision: got int3")) {
                                assertTrue(message.contains(part), message);
                            }
                        });
    }

    @Test
    void rejectsUnknownProperties() {
        runner.withPropertyValues("saccade.modle=" + detector)
                .run(
                        context ->
                                assertTrue(
                                        Throwables.getStackTraceAsString(
                                                        context.getStartupFailure())
                                                .contains("saccade.modle")));
    }

    @Test
    void unknownModelListsTheOthers() {
        runner.withPropertyValues("saccade.models.large.model=" + detector)
                .run(
                        context -> {
                            SaccadeModels models = context.getBean(SaccadeModels.class);
                            try {
                                models.reload("small");
                            } catch (SaccadeException e) {
                                assertEquals(
                                        "small: no such model; expected one of large",
                                        e.getMessage());
                                return;
                            }
                            throw new AssertionError("reloaded");
                        });
    }
}

package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;
import dev.saccade.train.schedules.Warmup;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Errors in settings of custom components are reported like those of bundled components. */
class CustomNamesTest {

    @TempDir private Path folder;

    private static String refusal(String yaml) {
        return assertThrows(SaccadeException.class, () -> RunConfig.parse(yaml)).getMessage();
    }

    @Test
    void reportsKeyAndLineOfInvalidSettings() throws IOException {
        Map<String, String> mistakes =
                Map.ofEntries(
                        Map.entry("width: 0.25", "width: -1"),
                        Map.entry("beta: 1.5", "beta: 0"),
                        Map.entry("{type: brier}", "{type: brier, gamma: 2}"),
                        Map.entry("loss_weight: 0.001", "loss_weight: -1"),
                        Map.entry("{type: corner}", "{type: corners}"),
                        Map.entry("topk: 2", "topk: two"),
                        Map.entry("num: 32", "num: 0"),
                        Map.entry("nms_pre: 100", "nms_pre: 0"),
                        Map.entry("exponent: 0.8", "exponent: 0"),
                        Map.entry("file: val.csv, ", ""),
                        Map.entry("probability: 1", "probability: 2"),
                        Map.entry("learning_rate: 1e-3", "rate: 1e-3"),
                        Map.entry("gamma: 0.5", "gamma: 0"),
                        Map.entry("min_score: 0.2", "min_score: 2"),
                        Map.entry("momentum: 0.5", "momentum: 1"));
        String yaml = Files.readString(Path.of("src/test/resources/custom_components.yaml"));
        for (Map.Entry<String, String> mistake : mistakes.entrySet()) {
            yaml = yaml.replace(mistake.getKey(), mistake.getValue());
        }
        assertEquals(
                """
                config: 15 problems
                  - config:3: model.backbone.width: got -1.0, expected more than 0
                  - config:4: model.neck.beta: got 0.0, expected more than 0
                  - config:7: model.head.loss_cls.gamma: unknown key (known: none)
                  - config:8: model.head.loss_bbox.loss_weight: got -1.0, expected at least 0
                  - config:9: model.head.bbox_coder.type: unknown type corners; did you mean corner? \
                (known: corner, delta_xywh)
                  - config:10: model.head.assigner.topk: got the string "two", expected an integer
                  - config:11: model.head.sampler.num: got 0, expected at least 1
                  - config:13: model.head.nms.exponent: got 0.0, expected more than 0
                  - config:12: model.head.nms_pre: got 0, expected at least 1
                  - config:18: data.val.file: missing; this key is required
                  - config:19: data.train_transforms[0].probability: got 2.0, expected at most 1
                  - config:21: optimizer.rate: unknown key (known: learning_rate, beta1, beta2, \
                weight_decay)
                  - config:22: schedule.gamma: got 0.0, expected more than 0
                  - config:24: evaluation.evaluators[0].min_score: got 2.0, expected at most 1
                  - config:25: hooks[0].momentum: got 1.0, expected less than 1""",
                refusal(yaml));
    }

    /** A duplicate name. */
    @Component("exponential")
    public record Another(Warmup warmup) implements Schedule {

        @Override
        public double regular(double base, long iteration, RunLength length) {
            return base;
        }
    }

    public record Nameless(Warmup warmup) implements Schedule {

        @Override
        public double regular(double base, long iteration, RunLength length) {
            return base;
        }
    }

    /** Lists a duplicate name. */
    public static final class TwoOfAName implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Another.class);
        }
    }

    /** Lists a component without a name. */
    public static final class WithoutAName implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Nameless.class);
        }
    }

    /** Returns the error message with an additional provider on the class path. */
    private String refusalWith(String provider) throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(ComponentProvider.class.getName()), provider);
        Thread thread = Thread.currentThread();
        ClassLoader usual = thread.getContextClassLoader();
        URL[] classes = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classes, usual)) {
            thread.setContextClassLoader(loader);
            return refusal("schedule: {type: constant}");
        } finally {
            thread.setContextClassLoader(usual);
        }
    }

    @Test
    void reportsDuplicateNames() throws IOException {
        assertEquals(
                "type exponential: registered by both "
                        + ExponentialSchedule.class.getName()
                        + " and "
                        + Another.class.getName()
                        + "; remove one from the class path",
                refusalWith(TwoOfAName.class.getName()));
    }

    @Test
    void reportsMissingNames() throws IOException {
        assertEquals(
                Nameless.class.getName() + ": expected a record with @Component(\"name\")",
                refusalWith(WithoutAName.class.getName()));
    }

    @Test
    void reportsMissingLists() throws IOException {
        assertEquals(
                "META-INF/services: a component cannot be loaded: "
                        + ComponentProvider.class.getName()
                        + ": Provider com.example.Mine not found",
                refusalWith("com.example.Mine"));
    }
}

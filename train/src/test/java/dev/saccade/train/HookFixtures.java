package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Hooks that do one thing, and what the tests of hooks look at. */
final class HookFixtures {

    private HookFixtures() {}

    /** Returns a validation that has these scores, one after another. */
    static Validation scoring(double... scores) {
        int[] calls = {0};
        return progress -> {
            progress.run();
            double score = scores[calls[0]++];
            return () -> Map.of("AP", score);
        };
    }

    /** Does something before each step. */
    static Hook beforeStep(BiConsumer<Run, Long> action) {
        return new Hook() {
            @Override
            public void beforeStep(Run run) {
                action.accept(run, run.iteration() + 1);
            }
        };
    }

    /** Does something after each step. */
    static Hook afterStep(BiConsumer<Run, StepReport> action) {
        return new Hook() {
            @Override
            public void afterStep(Run run, StepReport step) {
                action.accept(run, step);
            }
        };
    }

    /** Returns the weights of the first convolution. */
    static NDArray stem(Run run) {
        return run.model().namedParameters().get("stem.weight").getArray();
    }

    /** Returns what a user is told whose run fails. */
    static String failure(Supplier<Outcome> run) {
        SaccadeException e = assertThrows(SaccadeException.class, run::get);
        assertEquals(SaccadeException.Kind.USER, e.kind());
        return e.getMessage();
    }

    /** Writes down what it is called for, and where the run is then. */
    record Recording(List<String> events) implements Hook {

        private void add(String event, Run run) {
            events.add(Text.format("%s %d/%d", event, run.iteration(), run.epoch()));
        }

        @Override
        public void beforeTrain(Run run) {
            add("beforeTrain", run);
        }

        @Override
        public void afterTrain(Run run) {
            add("afterTrain", run);
        }

        @Override
        public void beforeEpoch(Run run) {
            add("beforeEpoch", run);
        }

        @Override
        public void afterEpoch(Run run) {
            add("afterEpoch", run);
        }

        @Override
        public void beforeStep(Run run) {
            add("beforeStep", run);
        }

        @Override
        public void afterStep(Run run, StepReport step) {
            assertEquals(run.iteration(), step.iteration());
            assertEquals(run.learningRate(), step.learningRate());
            add("afterStep", run);
        }

        @Override
        public void beforeEvaluation(Run run) {
            add("beforeEvaluation", run);
        }

        @Override
        public void afterEvaluation(Run run, EvaluationReport evaluation) {
            add("afterEvaluation", run);
        }

        @Override
        public void evaluationInterrupted(Run run) {
            add("evaluationInterrupted", run);
        }
    }
}

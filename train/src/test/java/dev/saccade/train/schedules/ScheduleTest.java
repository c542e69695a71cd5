package dev.saccade.train.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.config.Configs;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Locale;

class ScheduleTest {

    private static final RunLength COCO_1X = RunLength.ofEpochs(12, 7330);

    @ParameterizedTest
    @CsvSource({
        "0, 1e-7",
        "250, 5.005e-5",
        "7329, 1e-4",
        "58639, 1e-4",
        "58640, 1e-5",
        "65969, 1e-5",
        "80629, 1e-5",
        "80630, 1e-6"
    })
    void theStepsOfADetectorAreThoseOfMmcv(long iteration, double expected) {
        assertEquals(
                expected,
                Configs.of(StepSchedule.class).learningRate(1e-4, iteration, COCO_1X),
                1e-9 * expected);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 6.000000000172534e-11",
        "750, 2.9859404859375005e-05",
        "13333, 5.5000125e-05",
        "139999, 7.500375e-06"
    })
    void thePolynomialOfUperNetIsThatOfMmcv(long iteration, double expected) {
        assertEquals(
                expected,
                Configs.of(PolySchedule.class)
                        .learningRate(6e-5, iteration, new RunLength(160_000, 1263)),
                1e-9 * expected);
    }

    @ParameterizedTest
    @CsvSource({"0, 1e-4", "3333, 9.624244206128733e-05", "79998, 7.213499529549767e-09"})
    void polySchedulesEqualMmcv(long iteration, double expected) {
        assertEquals(
                expected,
                new PolySchedule(0.9, 0, Configs.of(Warmup.class))
                        .learningRate(1e-4, iteration, new RunLength(80_000, 631)),
                1e-9 * expected);
    }

    @Test
    void theCosineIsHalfWayInTheMiddle() {
        CosineSchedule cosine = new CosineSchedule(0.1, Configs.of(Warmup.class));
        RunLength length = new RunLength(100, 10);
        assertEquals(0.5, cosine.learningRate(0.5, 0, length));
        assertEquals(0.3, cosine.learningRate(0.5, 50, length), 1e-12);
        assertEquals(0.1, cosine.learningRate(0.5, 100, length), 1e-12);
    }

    @Test
    void theTrapezoidDecaysOnlyAtTheEnd() {
        TrapezoidSchedule trapezoid = new TrapezoidSchedule(0.2, new Warmup(10, 0));
        RunLength length = new RunLength(100, 7);
        assertEquals(80, trapezoid.decayStart(100));
        assertEquals(0.25, trapezoid.learningRate(0.5, 5, length), 1e-12);
        assertEquals(0.5, trapezoid.learningRate(0.5, 79, length));
        assertEquals(0.5, trapezoid.learningRate(0.5, 80, length));
        assertEquals(0.25, trapezoid.learningRate(0.5, 85, length), 1e-12);
        assertEquals(0.5 - 0.5 * Math.sqrt(0.95), trapezoid.learningRate(0.5, 99, length), 1e-12);
        assertEquals(0, trapezoid.learningRate(0.5, 100, length));
        assertEquals(1, new TrapezoidSchedule(0.01, new Warmup(0, 0)).decayStart(2));
        for (long i = 0; i < 80; i++) {
            assertEquals(
                    trapezoid.learningRate(0.1, i, length),
                    trapezoid.learningRate(0.1, i, new RunLength(1000, 7)));
        }
    }

    @Test
    void timmCosineWarmsUpToTheBase() {
        RunLength length = RunLength.ofEpochs(30, 10);
        TimmCosineSchedule cosine = new TimmCosineSchedule(5, 0.01, 0.1, 3, false);
        assertEquals(50, cosine.warmupSteps(length));
        assertEquals(0.01, cosine.learningRate(1, 0, length), 1e-12);
        assertEquals(0.505, cosine.learningRate(1, 25, length), 1e-12);
        assertEquals(0.55, cosine.learningRate(1, 135, length), 1e-12);
        assertEquals(0.1, cosine.learningRate(1, 270, length));
        assertEquals(0.1, cosine.learningRate(1, 299, length));
        TimmCosineSchedule prefix = new TimmCosineSchedule(5, 0.01, 0.1, 3, true);
        assertEquals(1, prefix.learningRate(1, 50, length));
        assertEquals(0.55, prefix.learningRate(1, 160, length), 1e-12);
    }

    @Test
    void timmCosineScalesItsLearningRates() {
        RunLength length = RunLength.ofEpochs(30, 10);
        TimmCosineSchedule cosine = new TimmCosineSchedule(5, 0.01, 0.1, 0, false);
        for (long i = 0; i < 300; i++) {
            assertEquals(
                    2 * cosine.learningRate(1, i, length),
                    cosine.scaled(2).learningRate(2, i, length),
                    1e-12);
        }
    }

    @Property
    void noScheduleEverExceedsTheBase(@ForAll @LongRange(max = 87_959) long iteration) {
        for (Schedule schedule :
                List.of(
                        Configs.of(StepSchedule.class),
                        Configs.of(PolySchedule.class),
                        Configs.of(CosineSchedule.class),
                        Configs.of(TrapezoidSchedule.class),
                        new ConstantSchedule(new Warmup(700, 0)))) {
            double rate = schedule.learningRate(1e-4, iteration, COCO_1X);
            assertEquals(rate, Math.min(1e-4, Math.max(0, rate)), schedule.type());
        }
    }

    @Test
    void rejectsUnorderedMilestones() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new StepSchedule(List.of(11, 8), 0.1, Configs.of(Warmup.class)));
    }

    @Test
    void rejectsARunWithoutSteps() {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> new RunLength(0, -1));
        assertEquals(
                String.format(
                        Locale.ROOT,
                        "iterations: got 0, expected at least 1%n"
                                + "iterations_per_epoch: got -1, expected at least 1"),
                e.getMessage());
    }
}

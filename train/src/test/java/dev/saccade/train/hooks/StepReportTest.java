package dev.saccade.train.hooks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableMap;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;

class StepReportTest {

    private static StepReport step(double loss, double gradientNorm) {
        return new StepReport(
                1,
                10,
                0,
                0.1,
                loss,
                ImmutableMap.of("loss_cls", loss),
                ImmutableMap.of(),
                gradientNorm,
                1,
                0,
                Duration.ZERO);
    }

    @Test
    void skippedStepsCountWithTheirLosses() {
        StepReport some =
                StepReport.mean(
                        List.of(
                                step(6, Double.POSITIVE_INFINITY),
                                step(2, 3),
                                step(Double.NaN, 5)));
        assertEquals(4, some.loss());
        assertEquals(ImmutableMap.of("loss_cls", 4.0), some.losses());
        assertEquals(4, some.gradientNorm());
        StepReport all = StepReport.mean(List.of(step(6, Double.NaN)));
        assertEquals(6, all.loss());
        assertEquals(ImmutableMap.of("loss_cls", 6.0), all.losses());
        assertEquals(Double.NaN, all.gradientNorm());
    }
}

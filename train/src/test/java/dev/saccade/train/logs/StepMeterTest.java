package dev.saccade.train.logs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableMap;

import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.Test;

import java.time.Duration;

class StepMeterTest {

    private final StepMeter meter = new StepMeter();

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

    private StepReport mean(StepReport... steps) {
        for (StepReport step : steps) {
            meter.add(step);
        }
        return meter.mean();
    }

    @Test
    void stepsThatWereLeftOutCountWithTheirLosses() {
        StepReport some = mean(step(6, Double.POSITIVE_INFINITY), step(2, 3), step(Double.NaN, 5));
        assertEquals(4, some.loss());
        assertEquals(ImmutableMap.of("loss_cls", 4.0), some.losses());
        assertEquals(4, some.gradientNorm());
        StepReport all = mean(step(6, Double.NaN));
        assertEquals(6, all.loss());
        assertEquals(ImmutableMap.of("loss_cls", 6.0), all.losses());
        assertEquals(Double.NaN, all.gradientNorm());
    }
}

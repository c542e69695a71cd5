package dev.saccade.models;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;

/**
 * Micrometer metrics of a model's predictions, tagged with the name of the model.
 *
 * <p>{@code saccade.decode} and {@code saccade.predict} are observations: timers, and spans if a
 * tracer is configured. The other meters are {@code saccade.batch.size}, {@code
 * saccade.queue.wait}, {@code saccade.queue.length}, {@code saccade.queue.capacity}, {@code
 * saccade.model.memory} and {@code saccade.errors}.
 */
public final class ModelMetrics {

    private static final String BATCH_SIZE = "saccade.batch.size";

    private static final List<String> KINDS =
            List.of("user", "io", "internal", "out_of_memory", "rejected");

    private static final double[] SECONDS = {
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60
    };

    private static final double[] IMAGES = {1, 2, 4, 8, 16, 32, 64};

    /** Records nothing. */
    public static final ModelMetrics NONE =
            new ModelMetrics("none", withoutMeters(), ObservationRegistry.NOOP);

    private final Tags tags;
    private final MeterRegistry meters;
    private final ObservationRegistry observations;

    private ModelMetrics(String model, MeterRegistry meters, ObservationRegistry observations) {
        this.tags = Tags.of("model", model);
        this.meters = meters;
        this.observations = observations;
        // Counters that start at 0, so that rates include the first error.
        KINDS.forEach(this::errors);
    }

    private static MeterRegistry withoutMeters() {
        MeterRegistry registry = new CompositeMeterRegistry();
        registry.config().meterFilter(MeterFilter.deny());
        return registry;
    }

    private Counter errors(String kind) {
        return Counter.builder("saccade.errors")
                .description("Images without a prediction.")
                .tags(tags.and("kind", kind))
                .register(meters);
    }

    /** Creates metrics without tracing. */
    public static ModelMetrics of(String model, MeterRegistry meters) {
        ObservationRegistry observations = ObservationRegistry.create();
        observations
                .observationConfig()
                .observationHandler(new DefaultMeterObservationHandler(meters));
        return new ModelMetrics(model, meters, observations);
    }

    /** Creates metrics; handlers of {@code observations} must record the timers and spans. */
    public static ModelMetrics of(
            String model, MeterRegistry meters, ObservationRegistry observations) {
        return new ModelMetrics(model, meters, observations);
    }

    /** Returns a filter that adds histogram buckets to the timers and the batch size. */
    public static MeterFilter histograms() {
        double[] nanos =
                DoubleStream.of(SECONDS).map(s -> s * Duration.ofSeconds(1).toNanos()).toArray();
        DistributionStatisticConfig timer = buckets(nanos);
        DistributionStatisticConfig batch = buckets(IMAGES);
        return new MeterFilter() {
            @Override
            public DistributionStatisticConfig configure(
                    Meter.Id id, DistributionStatisticConfig config) {
                if (id.getName().equals(BATCH_SIZE)) {
                    return batch.merge(config);
                }
                boolean timed =
                        id.getName().startsWith("saccade.") && id.getType() == Meter.Type.TIMER;
                return timed ? timer.merge(config) : config;
            }
        };
    }

    private static DistributionStatisticConfig buckets(double[] bounds) {
        return DistributionStatisticConfig.builder().serviceLevelObjectives(bounds).build();
    }

    /** Returns the observation of the current request; null if there is none. */
    Observation request() {
        return observations.getCurrentObservation();
    }

    /** Times the decoding of an image of a request, which may be null. */
    <T> T decode(Observation request, Supplier<T> work) {
        return observe("saccade.decode", "decode image", request, work);
    }

    /** Times the prediction of a batch; its span belongs to one of the requests. */
    <T> T predict(Observation request, int images, Supplier<T> work) {
        DistributionSummary.builder(BATCH_SIZE)
                .description("Images per batch.")
                .tags(tags)
                .register(meters)
                .record(images);
        return observe("saccade.predict", "predict batch", request, work);
    }

    private <T> T observe(String name, String title, Observation request, Supplier<T> work) {
        Observation observation =
                Observation.createNotStarted(name, observations)
                        .contextualName(title)
                        .parentObservation(request);
        for (Tag tag : tags) {
            observation.lowCardinalityKeyValue(tag.getKey(), tag.getValue());
        }
        return observation.observe(work);
    }

    void waited(long nanos) {
        Timer.builder("saccade.queue.wait")
                .description("Time of an image in the queue, without decoding and prediction.")
                .tags(tags)
                .register(meters)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** Counts an image without a prediction. */
    void error(Throwable failure) {
        errors(kind(failure)).increment();
    }

    private static String kind(Throwable failure) {
        if (failure instanceof RejectedExecutionException) {
            return "rejected";
        }
        if (OutOfMemory.reason(failure).isPresent()) {
            return "out_of_memory";
        }
        return failure instanceof SaccadeException known
                ? known.kind().name().toLowerCase(Locale.ROOT)
                : "internal";
    }

    void memory(Supplier<Number> bytes) {
        gauge("saccade.model.memory", "Memory of the weights.", "bytes", bytes);
    }

    void queue(Supplier<Number> length, int capacity) {
        gauge("saccade.queue.length", "Images that are waiting or in progress.", null, length);
        gauge("saccade.queue.capacity", "Maximum number of images.", null, () -> capacity);
    }

    /** Registers a gauge; replaces the gauge of an earlier model with the same name. */
    private void gauge(String name, String description, String unit, Supplier<Number> value) {
        Gauge earlier = meters.find(name).tags(tags).gauge();
        if (earlier != null) {
            meters.remove(earlier);
        }
        Gauge.builder(name, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .strongReference(true)
                .register(meters);
    }
}

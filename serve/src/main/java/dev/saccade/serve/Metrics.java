package dev.saccade.serve;

import io.prometheus.metrics.core.datapoints.Timer;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** What a server counts, in the text format of Prometheus. */
final class Metrics {

    static final String MEDIA_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private static final double[] SECONDS = {
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60
    };

    private static final double WEIGHT_OF_THE_LAST = 0.1;
    private static final int LONGEST_WAIT_SECONDS = 30;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter requests =
            Counter.builder()
                    .name("saccade_http_requests_total")
                    .help("Requests that were answered.")
                    .labelNames("route", "code")
                    .register(registry);
    private final Histogram duration =
            histogram("saccade_http_request_duration_seconds")
                    .help("From the headers of a request to the end of its answer.")
                    .labelNames("route")
                    .register(registry);
    private final Histogram decoding =
            histogram("saccade_decoding_seconds")
                    .help("Decoding and resizing of a photograph.")
                    .register(registry);
    private final Histogram predicting =
            histogram("saccade_prediction_seconds")
                    .help("A batch of photographs in the model.")
                    .register(registry);
    private final Histogram batches =
            Histogram.builder()
                    .name("saccade_batch_photographs")
                    .help("Photographs of a batch.")
                    .classicOnly()
                    .classicUpperBounds(1, 2, 4, 8, 16, 32, 64)
                    .register(registry);
    private final AtomicReference<Double> meanSeconds = new AtomicReference<>(0.0);

    Metrics() {
        JvmMetrics.builder().register(registry);
    }

    private static Histogram.Builder histogram(String name) {
        return Histogram.builder().name(name).classicOnly().classicUpperBounds(SECONDS);
    }

    void queue(IntSupplier length, int capacity) {
        gauge("saccade_queue_photographs", "Photographs that wait or are looked at.", length);
        gauge("saccade_queue_capacity", "Photographs that may, at most.", () -> capacity);
    }

    void connections(IntSupplier open) {
        gauge("saccade_http_connections", "Connections that are open.", open);
    }

    void underWay(IntSupplier requests) {
        gauge(
                "saccade_predictions_under_way",
                "Requests for predictions that have begun.",
                requests);
    }

    private void gauge(String name, String help, IntSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(gauge -> gauge.call(value.getAsInt()))
                .register(registry);
    }

    void answered(String route, int code, double seconds) {
        requests.labelValues(route, Integer.toString(code)).inc();
        duration.labelValues(route).observe(seconds);
    }

    /** Measures how long a photograph takes to be decoded. */
    <T> T decoding(Supplier<T> work) {
        return decoding.time(work);
    }

    /** Measures how long the model takes for a batch. */
    void predicting(int photographs, Runnable work) {
        // Whoever has been answered finds it counted.
        batches.observe(photographs);
        Timer timer = predicting.startTimer();
        work.run();
        double seconds = timer.observeDuration() / photographs;
        meanSeconds.updateAndGet(
                mean -> mean == 0 ? seconds : mean + WEIGHT_OF_THE_LAST * (seconds - mean));
    }

    /** Returns about how many seconds so many photographs take, in whole ones. */
    int secondsFor(int photographs) {
        double seconds = Math.ceil(meanSeconds.get() * photographs);
        return (int) Math.max(1, Math.min(LONGEST_WAIT_SECONDS, seconds));
    }

    byte[] text() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }
}

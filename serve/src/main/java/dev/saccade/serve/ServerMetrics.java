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

/** Metrics in Prometheus's text format. */
final class ServerMetrics {

    static final String MEDIA_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private static final double[] SECONDS = {
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60
    };

    private static final double SMOOTHING = 0.1;
    private static final int MAX_RETRY_SECONDS = 30;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter requests =
            Counter.builder()
                    .name("saccade_http_requests_total")
                    .help("Completed requests.")
                    .labelNames("route", "code")
                    .register(registry);
    private final Histogram duration =
            histogram("saccade_http_request_duration_seconds")
                    .help("Time from the request headers to the end of the response.")
                    .labelNames("route")
                    .register(registry);
    private final Histogram decoding =
            histogram("saccade_decoding_seconds")
                    .help("Time to decode and resize an image.")
                    .register(registry);
    private final Histogram predicting =
            histogram("saccade_prediction_seconds")
                    .help("Time to predict a batch.")
                    .register(registry);
    private final Histogram batches =
            Histogram.builder()
                    .name("saccade_batch_size")
                    .help("Images per batch.")
                    .classicOnly()
                    .classicUpperBounds(1, 2, 4, 8, 16, 32, 64)
                    .register(registry);
    private final AtomicReference<Double> meanSeconds = new AtomicReference<>(0.0);

    ServerMetrics() {
        JvmMetrics.builder().register(registry);
    }

    private static Histogram.Builder histogram(String name) {
        return Histogram.builder().name(name).classicOnly().classicUpperBounds(SECONDS);
    }

    void queue(IntSupplier length, int capacity) {
        gauge("saccade_queue_length", "Images that are waiting or being processed.", length);
        gauge("saccade_queue_capacity", "Maximum number of images in the queue.", () -> capacity);
    }

    void connections(IntSupplier open) {
        gauge("saccade_http_connections", "Open connections.", open);
    }

    void requestsInFlight(IntSupplier requests) {
        gauge("saccade_requests_in_flight", "Prediction requests in progress.", requests);
    }

    private void gauge(String name, String help, IntSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(gauge -> gauge.call(value.getAsInt()))
                .register(registry);
    }

    void record(String route, int code, double seconds) {
        requests.labelValues(route, Integer.toString(code)).inc();
        duration.labelValues(route).observe(seconds);
    }

    <T> T decoding(Supplier<T> work) {
        return decoding.time(work);
    }

    void predicting(int images, Runnable work) {
        // Count first, so that the metrics include a batch before its clients have the response.
        batches.observe(images);
        Timer timer = predicting.startTimer();
        work.run();
        double seconds = timer.observeDuration() / images;
        meanSeconds.updateAndGet(mean -> mean == 0 ? seconds : mean + SMOOTHING * (seconds - mean));
    }

    /** Returns the estimated seconds to predict N images, 1 to 30, for {@code Retry-After}. */
    int secondsFor(int images) {
        double seconds = Math.ceil(meanSeconds.get() * images);
        return (int) Math.max(1, Math.min(MAX_RETRY_SECONDS, seconds));
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

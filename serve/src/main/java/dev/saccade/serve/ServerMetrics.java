package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.models.ModelMetrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;

import java.time.Duration;
import java.util.function.Supplier;

/** Metrics of the server, its model and the JVM in Prometheus's text format. */
final class ServerMetrics {

    static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    ServerMetrics() {
        registry.config().meterFilter(ModelMetrics.histograms());
        JvmMetrics.builder().register(registry.getPrometheusRegistry());
    }

    MeterRegistry registry() {
        return registry;
    }

    void connections(Supplier<Number> open) {
        gauge("saccade.http.connections", "Open connections.", open);
    }

    void requestsInFlight(Supplier<Number> requests) {
        gauge("saccade.requests.in.flight", "Prediction requests in progress.", requests);
    }

    private void gauge(String name, String description, Supplier<Number> value) {
        Gauge.builder(name, value)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    void record(String route, int code, long nanos) {
        Counter.builder("saccade.http.requests")
                .description("Completed requests.")
                .tag("route", route)
                .tag("code", Integer.toString(code))
                .register(registry)
                .increment();
        Timer.builder("saccade.http.request.duration")
                .description("Time from the request headers to the end of the response.")
                .tag("route", route)
                .register(registry)
                .record(Duration.ofNanos(nanos));
    }

    byte[] text() {
        return registry.scrape().getBytes(UTF_8);
    }
}

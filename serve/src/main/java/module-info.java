open module dev.saccade.serve {
    requires transitive dev.saccade.models;
    requires com.fasterxml.jackson.databind;
    requires static com.google.errorprone.annotations;
    requires io.prometheus.metrics.instrumentation.jvm;
    requires micrometer.registry.prometheus;
    requires org.eclipse.jetty.http;
    requires org.eclipse.jetty.io;
    requires org.eclipse.jetty.server;
    requires org.eclipse.jetty.util;
    requires org.slf4j;
    requires java.net.http;

    exports dev.saccade.serve;
}

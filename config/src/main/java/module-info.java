open module dev.saccade.config {
    requires transitive dev.saccade.core;
    requires static com.google.errorprone.annotations;
    requires org.snakeyaml.engine.v2;

    exports dev.saccade.config;

    uses dev.saccade.core.components.ComponentProvider;
}

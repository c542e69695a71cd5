open module dev.saccade.core {
    requires dev.saccade.kernels;
    requires transitive ai.djl.api;
    requires ai.djl.pytorch_engine;
    requires transitive com.fasterxml.jackson.core;
    requires transitive com.google.common;
    requires static com.google.errorprone.annotations;
    requires com.sun.jna;
    requires org.slf4j;
    requires transitive java.desktop;
    requires java.net.http;
    requires jdk.management;

    exports dev.saccade.core;
    exports dev.saccade.core.bench;
    exports dev.saccade.core.components;
    exports dev.saccade.core.conversion;
    exports dev.saccade.core.distributed;
    exports dev.saccade.core.nn;
    exports dev.saccade.core.ops;
    exports dev.saccade.core.ops.attention;
    exports dev.saccade.core.ops.memory;
    exports dev.saccade.core.ops.script;
    exports dev.saccade.core.ops.vision;
    exports dev.saccade.core.structures;

    uses dev.saccade.core.components.ComponentProvider;
}

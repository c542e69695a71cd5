open module dev.saccade.models {
    requires transitive dev.saccade.backbones;
    requires transitive dev.saccade.checkpoint;
    requires transitive dev.saccade.datasets;
    requires transitive dev.saccade.heads;
    requires transitive dev.saccade.necks;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires org.slf4j;
    requires java.net.http;

    exports dev.saccade.models;
    exports dev.saccade.models.draw;
    exports dev.saccade.models.segmentation;
    exports dev.saccade.models.tiles;
    exports dev.saccade.models.zoo;
}

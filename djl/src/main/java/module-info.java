open module dev.saccade.djl {
    requires transitive dev.saccade.models;

    exports dev.saccade.djl;

    provides ai.djl.repository.zoo.ZooProvider with
            dev.saccade.djl.SaccadeZooProvider;
}

open module dev.saccade.bench {
    requires transitive dev.saccade.train;
    requires com.fasterxml.jackson.annotation;

    exports dev.saccade.bench;
}

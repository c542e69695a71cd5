open module dev.saccade.checkpoint {
    requires transitive dev.saccade.config;
    requires static com.google.errorprone.annotations;

    exports dev.saccade.checkpoint;
    exports dev.saccade.checkpoint.pytorch;
    exports dev.saccade.checkpoint.weights;
}

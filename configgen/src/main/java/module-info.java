open module dev.saccade.configgen {
    requires transitive dev.saccade.train;
    requires static com.google.errorprone.annotations;

    exports dev.saccade.configgen;
}

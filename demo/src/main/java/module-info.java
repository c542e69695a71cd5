open module dev.saccade.demo {
    requires transitive dev.saccade.datasets;
    requires com.fasterxml.jackson.databind;

    exports dev.saccade.demo;
}

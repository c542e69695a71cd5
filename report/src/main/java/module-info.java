open module dev.saccade.report {
    requires transitive dev.saccade.train;
    requires transitive dev.saccade.video;
    requires transitive com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.datatype.jdk8;
    requires jdk.management;

    exports dev.saccade.report;
    exports dev.saccade.report.predictions;
    exports dev.saccade.report.runs;
    exports dev.saccade.report.suggest;
}

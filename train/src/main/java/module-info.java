open module dev.saccade.train {
    requires transitive dev.saccade.eval;
    requires com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.datatype.jdk8;
    requires org.slf4j;
    requires java.management;

    exports dev.saccade.train;
    exports dev.saccade.train.checkpoint;
    exports dev.saccade.train.config;
    exports dev.saccade.train.data;
    exports dev.saccade.train.extend;
    exports dev.saccade.train.hooks;
    exports dev.saccade.train.logs;
    exports dev.saccade.train.optimizers;
    exports dev.saccade.train.schedules;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.train.TrainComponents;
}

open module dev.saccade.tune {
    requires transitive dev.saccade.report;
    requires com.fasterxml.jackson.datatype.jdk8;
    requires org.slf4j;

    exports dev.saccade.tune;
}

open module dev.saccade.cli {
    requires transitive dev.saccade.bench;
    requires transitive dev.saccade.configgen;
    requires transitive dev.saccade.demo;
    requires transitive dev.saccade.djl;
    requires transitive dev.saccade.export;
    requires transitive dev.saccade.mlflow;
    requires transitive dev.saccade.serve;
    requires transitive dev.saccade.tune;
    requires ch.qos.logback.classic;
    requires static com.google.errorprone.annotations;
    requires info.picocli;
    requires me.tongfei.progressbar;

    exports dev.saccade.cli;
    exports dev.saccade.cli.terminal;
}

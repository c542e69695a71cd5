open module dev.saccade.mlflow {
    requires transitive dev.saccade.train;
    requires com.fasterxml.jackson.databind;
    requires static com.google.errorprone.annotations;
    requires java.net.http;

    exports dev.saccade.mlflow;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.mlflow.MlflowComponents;
}

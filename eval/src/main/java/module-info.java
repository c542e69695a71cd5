open module dev.saccade.eval {
    requires transitive dev.saccade.models;
    requires com.fasterxml.jackson.databind;

    exports dev.saccade.eval;
    exports dev.saccade.eval.bootstrap;
    exports dev.saccade.eval.classification;
    exports dev.saccade.eval.coco;
    exports dev.saccade.eval.detection;
    exports dev.saccade.eval.labelerrors;
    exports dev.saccade.eval.results;
    exports dev.saccade.eval.segmentation;
    exports dev.saccade.eval.tide;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.eval.EvaluatorComponents;
}

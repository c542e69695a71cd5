open module dev.saccade.heads {
    requires transitive dev.saccade.core;

    exports dev.saccade.heads;
    exports dev.saccade.heads.anchor;
    exports dev.saccade.heads.box;
    exports dev.saccade.heads.classification;
    exports dev.saccade.heads.loss;
    exports dev.saccade.heads.roi;
    exports dev.saccade.heads.segmentation;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.heads.Heads;
}

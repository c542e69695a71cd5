open module dev.saccade.backbones {
    requires transitive dev.saccade.core;

    exports dev.saccade.backbones;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.backbones.Backbones;
}

open module dev.saccade.necks {
    requires transitive dev.saccade.core;

    exports dev.saccade.necks;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.necks.Necks;
}

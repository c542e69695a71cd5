open module dev.saccade.datasets {
    requires transitive dev.saccade.config;
    requires static com.google.errorprone.annotations;
    requires transitive opencv;
    requires org.apache.commons.compress;
    requires org.apache.commons.imaging;
    requires org.slf4j;

    exports dev.saccade.datasets;
    exports dev.saccade.datasets.ade20k;
    exports dev.saccade.datasets.check;
    exports dev.saccade.datasets.classification;
    exports dev.saccade.datasets.coco;
    exports dev.saccade.datasets.combined;
    exports dev.saccade.datasets.convert;
    exports dev.saccade.datasets.convert.formats;
    exports dev.saccade.datasets.convert.source;
    exports dev.saccade.datasets.folds;
    exports dev.saccade.datasets.image;
    exports dev.saccade.datasets.labels;
    exports dev.saccade.datasets.loader;
    exports dev.saccade.datasets.pillow;
    exports dev.saccade.datasets.transforms;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.datasets.DatasetComponents;
}

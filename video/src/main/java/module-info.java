open module dev.saccade.video {
    requires transitive dev.saccade.models;
    requires org.bytedeco.ffmpeg;
    requires org.bytedeco.javacpp;

    exports dev.saccade.video;
    exports dev.saccade.video.tracking;

    provides dev.saccade.core.components.ComponentProvider with
            dev.saccade.video.tracking.TrackerComponents;
}

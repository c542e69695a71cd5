open module dev.saccade.video {
    requires transitive dev.saccade.datasets;
    requires org.bytedeco.ffmpeg;
    requires org.bytedeco.javacpp;

    exports dev.saccade.video;
}

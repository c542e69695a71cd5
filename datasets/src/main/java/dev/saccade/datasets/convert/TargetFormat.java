package dev.saccade.datasets.convert;

import com.google.common.base.Ascii;

import java.util.List;

/** Formats in which object labels can be written. */
public enum TargetFormat {
    /** {@code annotations_train.json}, {@code annotations_val.json} and {@code images/}. */
    COCO("COCO's format", CocoWriter::write),

    /** Ultralytics' {@code data.yaml}, {@code train.txt}, {@code labels/} and {@code images/}. */
    YOLO("YOLO", new YoloWriter()),

    /** CVAT for images 1.1: {@code annotations.xml} and {@code images/}. */
    CVAT("CVAT for images", new CvatWriter());

    private final String title;
    private final LabelWriter writer;

    TargetFormat(String title, LabelWriter writer) {
        this.title = title;
        this.writer = writer;
    }

    public String key() {
        return Ascii.toLowerCase(name());
    }

    public String title() {
        return title;
    }

    /** Returns whether the format keeps objects that training and evaluation ignore. */
    public boolean keepsIgnored() {
        return this == COCO;
    }

    /** Rejects names of images that the format cannot represent together. */
    public void requireNames(List<String> images) {
        writer.requireNames(images);
    }

    LabelWriter writer() {
        return writer;
    }
}

package dev.saccade.datasets.convert;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import dev.saccade.core.OutputFolder;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;

/** Writes a COCO annotation file with coordinates rounded to 1e-4 pixels. */
final class CocoWriter implements AutoCloseable {

    private static final double STEPS = 1e4;

    private final JsonGenerator json;
    private final SourceLabels labels;
    private final int[] next;

    /** Starts a file; {@code next} holds the next image and annotation id, shared by all splits. */
    private CocoWriter(OutputStream out, SourceLabels labels, int[] next) throws IOException {
        this.json = new JsonFactory().createGenerator(out, JsonEncoding.UTF8);
        this.labels = labels;
        this.next = next;
    }

    /** Writes {@code annotations_SPLIT.json} for each split with images. */
    static void write(SourceLabels labels, OutputFolder target) throws IOException {
        int[] next = {1, 1};
        for (Split split : Split.values()) {
            List<LabeledImage> images = labels.images(split);
            if (!images.isEmpty()) {
                String name = "annotations_" + split.key() + ".json";
                try (CocoWriter coco = new CocoWriter(target.create(name), labels, next)) {
                    coco.write(images);
                }
            }
        }
    }

    /** Writes the labels of all images to one file. */
    static void write(SourceLabels labels, OutputStream out) throws IOException {
        try (CocoWriter coco = new CocoWriter(out, labels, new int[] {1, 1})) {
            coco.write(labels.images());
        }
    }

    private void write(List<LabeledImage> images) throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("categories");
        for (int label = 0; label < labels.classes().size(); label++) {
            json.writeStartObject();
            json.writeNumberField("id", labels.categoryIds().get(label));
            json.writeStringField("name", labels.classes().get(label));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("images");
        int id = next[0];
        for (LabeledImage image : images) {
            json.writeStartObject();
            json.writeNumberField("id", id++);
            json.writeStringField("file_name", image.name());
            json.writeNumberField("width", image.size().width());
            json.writeNumberField("height", image.size().height());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("annotations");
        for (LabeledImage image : images) {
            for (Annotation object : image.objects()) {
                write(object);
            }
            next[0]++;
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void write(Annotation object) throws IOException {
        json.writeStartObject();
        json.writeNumberField("id", next[1]++);
        json.writeNumberField("image_id", next[0]);
        json.writeNumberField("category_id", labels.categoryIds().get(object.label()));
        Annotation.Bbox box = object.box();
        json.writeFieldName("bbox");
        writeRounded(box.x(), box.y(), box.width(), box.height());
        json.writeNumberField("area", rounded(object.area()));
        json.writeNumberField("iscrowd", object.crowd() ? 1 : 0);
        if (object.ignore()) {
            json.writeNumberField("ignore", 1);
        }
        if (object.segmentation() instanceof Segmentation.Polygons polygons) {
            json.writeArrayFieldStart("segmentation");
            for (double[] ring : polygons.rings()) {
                writeRounded(ring);
            }
            json.writeEndArray();
        } else if (object.segmentation() instanceof Segmentation.Runs runs) {
            json.writeObjectFieldStart("segmentation");
            json.writeFieldName("size");
            json.writeArray(new int[] {runs.size().height(), runs.size().width()}, 0, 2);
            json.writeStringField("counts", runs.counts());
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    private void writeRounded(double... numbers) throws IOException {
        double[] rounded = Arrays.stream(numbers).map(CocoWriter::rounded).toArray();
        json.writeArray(rounded, 0, rounded.length);
    }

    private static double rounded(double number) {
        return Math.rint(number * STEPS) / STEPS;
    }

    @Override
    public void close() throws IOException {
        json.close();
    }
}

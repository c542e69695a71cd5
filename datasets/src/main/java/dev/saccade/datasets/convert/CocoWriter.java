package dev.saccade.datasets.convert;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes an annotation file of COCO. Pixels are rounded to ten-thousandths, which is finer than any
 * format that labels are drawn in.
 */
final class CocoWriter implements AutoCloseable {

    private static final double STEPS = 1e4;

    private final JsonGenerator json;
    private final List<Long> categoryIds;
    private final int[] next;

    /**
     * Starts a file.
     *
     * @param labels of which the classes are written, not the photographs
     * @param next the next ids of an image and of an annotation, which go on over all parts
     */
    CocoWriter(OutputStream out, ForeignLabels labels, int[] next) throws IOException {
        this.json = new JsonFactory().createGenerator(out, JsonEncoding.UTF8);
        this.categoryIds = labels.categoryIds();
        this.next = next;
        json.writeStartObject();
        json.writeArrayFieldStart("categories");
        for (int label = 0; label < categoryIds.size(); label++) {
            json.writeStartObject();
            json.writeNumberField("id", categoryIds.get(label));
            json.writeStringField("name", labels.classes().get(label));
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /**
     * Writes the images; their annotations follow.
     *
     * @param above what their names are without
     */
    void writeImages(List<LabeledPhoto> photos, String above) throws IOException {
        json.writeArrayFieldStart("images");
        int id = next[0];
        for (LabeledPhoto photo : photos) {
            json.writeStartObject();
            json.writeNumberField("id", id++);
            json.writeStringField("file_name", photo.name().substring(above.length()));
            json.writeNumberField("width", photo.size().width());
            json.writeNumberField("height", photo.size().height());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Writes the annotations of the same photographs. */
    void writeAnnotations(List<LabeledPhoto> photos) throws IOException {
        json.writeArrayFieldStart("annotations");
        for (LabeledPhoto photo : photos) {
            for (Annotation object : photo.objects()) {
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
        json.writeNumberField("category_id", categoryIds.get(object.label()));
        Annotation.Bbox box = object.box();
        writeNumbers("bbox", box.x(), box.y(), box.width(), box.height());
        json.writeNumberField("area", rounded(object.area()));
        json.writeNumberField("iscrowd", object.crowd() ? 1 : 0);
        if (object.ignore()) {
            json.writeNumberField("ignore", 1);
        }
        if (object.segmentation() instanceof Segmentation.Polygons polygons) {
            json.writeArrayFieldStart("segmentation");
            for (double[] ring : polygons.rings()) {
                json.writeStartArray();
                for (double number : ring) {
                    json.writeNumber(rounded(number));
                }
                json.writeEndArray();
            }
            json.writeEndArray();
        } else if (object.segmentation() instanceof Segmentation.Runs runs) {
            json.writeObjectFieldStart("segmentation");
            json.writeArrayFieldStart("size");
            json.writeNumber(runs.size().height());
            json.writeNumber(runs.size().width());
            json.writeEndArray();
            json.writeStringField("counts", runs.counts());
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    private void writeNumbers(String key, double... numbers) throws IOException {
        json.writeArrayFieldStart(key);
        for (double number : numbers) {
            json.writeNumber(rounded(number));
        }
        json.writeEndArray();
    }

    private static double rounded(double number) {
        return Math.rint(number * STEPS) / STEPS;
    }

    @Override
    public void close() throws IOException {
        json.close();
    }
}

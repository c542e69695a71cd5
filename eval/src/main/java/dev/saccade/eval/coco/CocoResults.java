package dev.saccade.eval.coco;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * COCO result files: arrays of {@code {"image_id", "category_id", "score"}} with a {@code bbox} of
 * {@code [x, y, width, height]} or a {@code segmentation} in compressed RLE. Files are streamed,
 * and numbers are not rounded.
 */
public final class CocoResults {

    private CocoResults() {}

    /**
     * Reads boxes or masks in the order of the file.
     *
     * @throws SaccadeException of kind {@code USER} with the lines of the first errors
     */
    public static CocoDetections read(Path file, Dataset dataset, IouType iouType) {
        return new CocoResultsReader(file, dataset, iouType).read();
    }

    /**
     * Reads a result file of any tool. If the first detection has a mask, all detections need one;
     * otherwise all need a box. Masks are compressed or uncompressed RLE, or polygons. Detections
     * without {@code bbox} get the bounds of their masks. {@code image_id} may be a file name, as
     * in Ultralytics.
     *
     * @throws SaccadeException of kind {@code USER} with the lines of the first errors
     */
    public static CocoDetections read(Path file, Dataset dataset) {
        return new CocoResultsReader(file, dataset).read();
    }

    /** Writes boxes or masks to a result file. */
    public static void write(
            Path file, Dataset dataset, CocoDetections detections, IouType iouType) {
        try (OutputStream stream = new BufferedOutputStream(Files.newOutputStream(file));
                JsonGenerator json = new JsonFactory().createGenerator(stream, JsonEncoding.UTF8)) {
            json.writeStartArray();
            for (int i = 0; i < detections.size(); i++) {
                json.writeStartObject();
                json.writeNumberField("image_id", detections.imageId(i));
                json.writeNumberField("category_id", dataset.categoryId(detections.label(i)));
                switch (iouType) {
                    case BOX -> writeBox(json, detections.box(i));
                    case MASK -> writeMask(json, detections.mask(i).orElseThrow());
                }
                json.writeNumberField("score", detections.score(i));
                json.writeEndObject();
            }
            json.writeEndArray();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    private static void writeBox(JsonGenerator json, Annotation.Bbox box) throws IOException {
        json.writeFieldName("bbox");
        json.writeArray(new double[] {box.x(), box.y(), box.width(), box.height()}, 0, 4);
    }

    private static void writeMask(JsonGenerator json, Rle mask) throws IOException {
        json.writeObjectFieldStart("segmentation");
        json.writeFieldName("size");
        json.writeArray(new int[] {mask.size().height(), mask.size().width()}, 0, 2);
        json.writeStringField("counts", mask.toCompressedString());
        json.writeEndObject();
    }
}

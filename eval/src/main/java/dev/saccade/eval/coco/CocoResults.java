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
 * Detections in COCO's result format: an array of {@code {"image_id", "category_id", "bbox",
 * "score"}}, where {@code bbox} is {@code [x, y, width, height]}; of masks, {@code "segmentation"}
 * with the compressed run lengths stands for {@code bbox}.
 *
 * <p>Both ways stream, and no number is rounded: what is written is read back exactly.
 */
public final class CocoResults {

    private CocoResults() {}

    /**
     * Reads a result file.
     *
     * @param dataset says which images there are and which category id stands for which class
     * @param iouType whether boxes or masks are wanted; what else a detection has is passed over,
     *     so that masks have the area of the mask
     * @return the detections in the order of the file, none for an empty array
     * @throws SaccadeException of kind {@code USER} if there is no such file or it is faulty, with
     *     the lines of the first faults
     */
    public static CocoDetections read(Path file, Dataset dataset, IouType iouType) {
        return new CocoResultsReader(file, dataset, iouType).read();
    }

    /**
     * Reads a result file of any tool: boxes, masks, or both of each detection, as in the first.
     * Masks are run lengths, compressed or not, or polygons. Detections without {@code bbox} get
     * the bounds of their masks. An image may also be named by its file name, with or without its
     * extension, as Ultralytics does.
     *
     * @param dataset the images, categories and their ids
     * @return the detections in the order of the file, none for an empty array
     * @throws SaccadeException of kind {@code USER} if there is no such file or it is faulty, with
     *     the index and line of the first faults
     */
    public static CocoDetections read(Path file, Dataset dataset) {
        return new CocoResultsReader(file, dataset).read();
    }

    /**
     * Writes a result file.
     *
     * @param dataset gives the category ids
     * @param iouType whether boxes or masks are written
     * @throws SaccadeException of kind {@code IO} if the file cannot be written
     */
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

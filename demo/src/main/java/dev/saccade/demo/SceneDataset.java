package dev.saccade.demo;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;

/**
 * A data set of rendered scenes on disk, in COCO's layout: {@code images/}, {@value #TRAIN} and
 * {@value #HELD_BACK}, with boxes, polygons and mask areas.
 */
public final class SceneDataset {

    /** The annotations to train with. */
    public static final String TRAIN = "annotations_train.json";

    /** The annotations to evaluate with. */
    public static final String HELD_BACK = "annotations_val.json";

    private static final int JPEG_QUALITY = 90;

    private final Path folder;
    private final SceneRenderer renderer;

    private SceneDataset(Path folder, SceneRenderer renderer) {
        this.folder = folder;
        this.renderer = renderer;
    }

    /**
     * Renders a data set on all processors and writes it; the same arguments give the same files.
     *
     * @param folder made if it is not there; files of the same names are replaced
     * @param train number of scenes to train with
     * @param heldBack number of scenes to evaluate with
     * @param progress told after each scene how many are done
     * @throws SaccadeException of kind {@code IO} if a file cannot be written
     */
    public static void write(
            Path folder, SceneRenderer renderer, int train, int heldBack, IntConsumer progress) {
        new SceneDataset(folder, renderer).write(train, heldBack, progress);
    }

    private void write(int train, int heldBack, IntConsumer progress) {
        try {
            Files.createDirectories(folder.resolve("images"));
            List<List<SceneObject>> scenes = renderAll(train + heldBack, progress);
            writeAnnotations(TRAIN, scenes, 0, train);
            writeAnnotations(HELD_BACK, scenes, train, train + heldBack);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: the scenes cannot be written (%s)", folder, e);
        }
    }

    private List<List<SceneObject>> renderAll(int count, IntConsumer progress) throws IOException {
        ExecutorService threads =
                Executors.newFixedThreadPool(
                        Runtime.getRuntime().availableProcessors(),
                        task -> {
                            Thread thread = new Thread(task, "scene-renderer");
                            thread.setDaemon(true);
                            return thread;
                        });
        try {
            List<Future<List<SceneObject>>> pending = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int index = i;
                pending.add(threads.submit(() -> writeImage(index)));
            }
            List<List<SceneObject>> scenes = new ArrayList<>();
            for (Future<List<SceneObject>> scene : pending) {
                scenes.add(scene.get());
                progress.accept(scenes.size());
            }
            return scenes;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw SaccadeException.internal(e.getCause(), "a scene could not be rendered");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "%s: interrupted while rendering scenes", folder);
        } finally {
            threads.shutdownNow();
        }
    }

    private List<SceneObject> writeImage(int index) throws IOException {
        Scene scene = renderer.render(index);
        Size size = scene.size();
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        MatOfByte jpeg = new MatOfByte();
        MatOfInt options = new MatOfInt(Imgcodecs.IMWRITE_JPEG_QUALITY, JPEG_QUALITY);
        try {
            image.put(0, 0, scene.bgr());
            Imgcodecs.imencode(".jpg", image, jpeg, options);
            Files.write(folder.resolve("images").resolve(fileName(index)), jpeg.toArray());
            return scene.objects();
        } finally {
            image.release();
            jpeg.release();
            options.release();
        }
    }

    private void writeAnnotations(String file, List<List<SceneObject>> scenes, int from, int to)
            throws IOException {
        try (JsonGenerator json =
                new JsonFactory().createGenerator(Files.newBufferedWriter(folder.resolve(file)))) {
            json.writeStartObject();
            json.writeObjectFieldStart("info");
            json.writeStringField("description", "Scenes rendered by Saccade");
            json.writeEndObject();
            json.writeArrayFieldStart("categories");
            for (int label = 0; label < Thing.CLASSES.size(); label++) {
                json.writeStartObject();
                json.writeNumberField("id", label + 1);
                json.writeStringField("name", Thing.CLASSES.get(label));
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("images");
            for (int index = from; index < to; index++) {
                json.writeStartObject();
                json.writeNumberField("id", index + 1);
                json.writeStringField("file_name", fileName(index));
                json.writeNumberField("width", renderer.size().width());
                json.writeNumberField("height", renderer.size().height());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("annotations");
            int id = 1;
            for (int index = from; index < to; index++) {
                for (SceneObject object : scenes.get(index)) {
                    writeObject(json, id++, index + 1, object);
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        }
    }

    private static void writeObject(JsonGenerator json, int id, int imageId, SceneObject object)
            throws IOException {
        json.writeStartObject();
        json.writeNumberField("id", id);
        json.writeNumberField("image_id", imageId);
        json.writeNumberField("category_id", object.label() + 1);
        json.writeFieldName("bbox");
        Rle.Bounds bounds = object.box();
        int[] box = {bounds.x(), bounds.y(), bounds.width(), bounds.height()};
        json.writeArray(box, 0, box.length);
        json.writeNumberField("area", object.area());
        json.writeNumberField("iscrowd", 0);
        json.writeArrayFieldStart("segmentation");
        for (ImmutableIntArray polygon : object.polygons()) {
            json.writeArray(polygon.toArray(), 0, polygon.length());
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static String fileName(int index) {
        return Text.format("scene_%04d.jpg", index + 1);
    }
}

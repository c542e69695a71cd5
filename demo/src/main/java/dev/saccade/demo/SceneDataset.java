package dev.saccade.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.IntConsumer;

/** Writes rendered scenes as a COCO data set with boxes and polygons. */
public final class SceneDataset {

    /** File name of the training annotations. */
    public static final String TRAIN = "annotations_train.json";

    /** File name of the validation annotations. */
    public static final String VAL = "annotations_val.json";

    private static final int JPEG_QUALITY = 90;

    private SceneDataset() {}

    /**
     * Renders a data set; the same arguments give the same files.
     *
     * @param folder created if missing; existing files of the same names are replaced
     * @param progress receives the number of finished scenes
     * @throws SaccadeException of kind {@code IO} if a file cannot be written
     */
    public static void write(
            Path folder, SceneRenderer renderer, int train, int val, IntConsumer progress) {
        int count = train + val;
        List<List<SceneObject>> scenes = new ArrayList<>();
        List<Callable<List<SceneObject>>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = i;
            tasks.add(() -> writeImage(folder, renderer, index));
        }
        int threads = Runtime.getRuntime().availableProcessors();
        try (Workers workers = new Workers("scene-renderer", threads)) {
            Files.createDirectories(folder.resolve("images"));
            workers.run(
                    tasks,
                    objects -> {
                        scenes.add(objects);
                        progress.accept(scenes.size());
                    });
            writeAnnotations(folder.resolve(TRAIN), renderer.size(), scenes, 0, train);
            writeAnnotations(folder.resolve(VAL), renderer.size(), scenes, train, count);
        } catch (IOException | UncheckedIOException e) {
            throw SaccadeException.io(e, "%s: the scenes cannot be written (%s)", folder, e);
        }
    }

    private static List<SceneObject> writeImage(Path folder, SceneRenderer renderer, int index) {
        Size size = renderer.size();
        byte[] bgr = new byte[Math.toIntExact(3 * size.area())];
        List<SceneObject> objects = renderer.render(index, bgr);
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        MatOfByte jpeg = new MatOfByte();
        MatOfInt options = new MatOfInt(Imgcodecs.IMWRITE_JPEG_QUALITY, JPEG_QUALITY);
        try {
            image.put(0, 0, bgr);
            Imgcodecs.imencode(".jpg", image, jpeg, options);
            Files.write(folder.resolve("images").resolve(fileName(index)), jpeg.toArray());
            return objects;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            image.release();
            jpeg.release();
            options.release();
        }
    }

    private static void writeAnnotations(
            Path file, Size size, List<List<SceneObject>> scenes, int from, int to)
            throws IOException {
        List<Map<String, Object>> categories = new ArrayList<>();
        for (String name : ObjectTemplate.CLASSES) {
            categories.add(ImmutableMap.of("id", categories.size() + 1, "name", name));
        }
        List<Map<String, Object>> images = new ArrayList<>();
        List<Map<String, Object>> annotations = new ArrayList<>();
        for (int index = from; index < to; index++) {
            images.add(
                    ImmutableMap.of(
                            "id", index + 1,
                            "file_name", fileName(index),
                            "width", size.width(),
                            "height", size.height()));
            for (SceneObject object : scenes.get(index)) {
                annotations.add(annotation(annotations.size() + 1, index + 1, object));
            }
        }
        Map<String, Object> coco =
                ImmutableMap.of(
                        "info", Map.of("description", "Scenes rendered by Saccade"),
                        "categories", categories,
                        "images", images,
                        "annotations", annotations);
        new ObjectMapper().writeValue(Files.newBufferedWriter(file), coco);
    }

    private static Map<String, Object> annotation(int id, int imageId, SceneObject object) {
        Rle.Bounds box = object.mask().bounds();
        List<List<Integer>> polygons =
                Contours.polygons(object.mask()).stream().map(ImmutableIntArray::asList).toList();
        return ImmutableMap.of(
                "id",
                id,
                "image_id",
                imageId,
                "category_id",
                object.label() + 1,
                "bbox",
                List.of(box.x(), box.y(), box.width(), box.height()),
                "area",
                object.mask().area(),
                "iscrowd",
                0,
                "segmentation",
                polygons);
    }

    private static String fileName(int index) {
        return Text.format("scene_%04d.jpg", index + 1);
    }
}

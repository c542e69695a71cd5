package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.primitives.Bytes;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.image.ImageReader;

import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Image decoding and detection transforms with scripted random values: pixels, boxes and masks. */
final class PipelineKind implements Kind {

    private static final Tolerance PIXELS = Tolerance.absolute(1e-4);
    private static final Tolerance GRAY_LEVEL = Tolerance.absolute(1);
    private static final Tolerance NORMALIZED = Tolerance.absolute(0.02);

    /** JPEG decoders differ by two gray levels, and resizing adds one. */
    private static final Tolerance JPEG_DECODED = Tolerance.absolute(2);

    private static final Tolerance JPEG_RESIZED = Tolerance.absolute(3);
    private static final Tolerance JPEG_NORMALIZED = Tolerance.absolute(3 / 57.0);

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("boxes", "normalize");
        decode(recorded, "image.png", "png_bgr", Tolerance.EXACT);
        decode(recorded, "image.jpg", "jpg_bgr", JPEG_DECODED);
        for (Settings pipeline : recorded.settings().objects("pipelines")) {
            try (Sample sample = run(recorded, pipeline)) {
                compare(recorded, pipeline, sample);
            }
        }
    }

    private static void decode(Case recorded, String file, String name, Tolerance tolerance) {
        if (recorded.has(name)) {
            Mat image = ImageReader.read(recorded.file(file));
            recorded.compare(name, Pixels.of(image), tolerance);
            image.release();
        }
    }

    private static Sample run(Case recorded, Settings pipeline) {
        String file = pipeline.text("file");
        boolean jpeg = file.endsWith(".jpg");
        Mat image = ImageReader.read(recorded.file(file));
        Size size = new Size(image.rows(), image.cols());
        Sample sample =
                Sample.of(
                        image,
                        ImageInfo.of(size),
                        Instances.groundTruth(
                                        Boxes.of(recorded.array("gt_bboxes").floats()),
                                        recorded.array("gt_labels").ints())
                                .withMasks(masks(recorded.settings(), size)));
        for (Settings step : pipeline.objects("steps")) {
            sample = ScriptedTransforms.apply(step, sample);
            if (step.text("type").equals("Resize")) {
                recorded.compare(
                        prefix(pipeline) + "resized",
                        Pixels.of(sample.image()),
                        jpeg ? JPEG_RESIZED : GRAY_LEVEL);
            }
        }
        return sample;
    }

    private static List<Rle> masks(Settings settings, Size size) {
        List<Rle> masks = new ArrayList<>();
        for (JsonNode polygons : settings.json("gt_polygons")) {
            List<double[]> rings = new ArrayList<>();
            polygons.forEach(ring -> rings.add(numbers(ring)));
            masks.add(new Segmentation.Polygons(rings).mask(size));
        }
        return masks;
    }

    private static double[] numbers(JsonNode array) {
        double[] numbers = new double[array.size()];
        Arrays.setAll(numbers, i -> array.get(i).doubleValue());
        return numbers;
    }

    private static void compare(Case recorded, Settings pipeline, Sample sample) {
        String prefix = prefix(pipeline);
        ImageInfo info = sample.info();
        assertEquals(pipeline.integers("img_shape"), Pixels.shape(info.size()));
        assertEquals(pipeline.integers("pad_shape"), Pixels.shape(info.padded()));
        recorded.compare(
                prefix + "scale_factor",
                NumpyArray.of(pipeline.numbers("scale_factor")),
                NumpyArray.of(info.scaleX(), info.scaleY(), info.scaleX(), info.scaleY()),
                Tolerance.EXACT);
        boolean mirrored =
                pipeline.flag("flip", false)
                        && pipeline.text("flip_direction").equals("horizontal");
        assertEquals(mirrored, info.flipped());
        pipeline.describes("flip_direction");

        boolean jpeg = pipeline.text("file").endsWith(".jpg");
        recorded.compare(
                prefix + "img", Pixels.written(sample), jpeg ? JPEG_NORMALIZED : NORMALIZED);
        Instances targets = sample.targets();
        recorded.compare(
                prefix + "bboxes",
                NumpyArray.of(targets.boxes().toArray()).reshape(targets.size(), 4),
                PIXELS);
        recorded.compare(prefix + "labels", NumpyArray.of(targets.labels()), Tolerance.EXACT);
        compareMasks(recorded, prefix, sample);
    }

    private static String prefix(Settings pipeline) {
        return "p" + pipeline.integer("index") + "_";
    }

    private static void compareMasks(Case recorded, String prefix, Sample sample) {
        NumpyArray shape = recorded.array(prefix + "masks_shape");
        List<Rle> masks = sample.targets().masks();
        double[] found =
                masks.stream()
                        .flatMap(mask -> Bytes.asList(mask.decode()).stream())
                        .mapToDouble(Byte::doubleValue)
                        .toArray();
        Size size = sample.info().padded();
        recorded.compare(
                prefix + "masks",
                recorded.array(prefix + "masks").unpackBits(shape),
                NumpyArray.of(found).reshape(masks.size(), size.height(), size.width()),
                Tolerance.EXACT);
    }
}

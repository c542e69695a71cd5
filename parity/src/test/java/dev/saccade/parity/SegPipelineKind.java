package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.image.ImageReader;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Image decoding and segmentation transforms with scripted random values: pixels and labels. */
final class SegPipelineKind implements Kind {

    private static final int IGNORED = 255;
    private static final Tolerance GRAY_LEVEL = Tolerance.absolute(1);
    private static final Tolerance NORMALIZED = Tolerance.absolute(0.02);

    @Override
    public void run(Case recorded) {
        Dataset files = files(recorded);
        Mat image = ImageReader.read(files.image(0).file());
        recorded.compare("img", Pixels.of(image), Tolerance.EXACT);
        recorded.compare("label", numbers(files.labels(0)), Tolerance.EXACT);
        for (Settings pipeline : recorded.settings().objects("pipelines")) {
            Sample sample =
                    Sample.of(image.clone(), ImageInfo.of(files.image(0).size()), files.labels(0));
            for (Settings step : pipeline.objects("steps")) {
                sample = ScriptedTransforms.apply(step, sample);
            }
            compare(recorded, pipeline, sample);
            sample.close();
        }
        image.release();
    }

    /** Returns the image of the case as a data set whose label values are class indices. */
    private static Dataset files(Case recorded) {
        List<String> classes = IntStream.range(0, IGNORED).mapToObj(i -> "class " + i).toList();
        return Configs.of(
                        Ade20kDataset.Config.class,
                        Map.of(
                                "images", "",
                                "annotations", "",
                                "classes", classes,
                                "reduce_zero_label", false,
                                "ignore_index", IGNORED,
                                "image_suffix", "image.png",
                                "label_suffix", "label.png"))
                .open(recorded.file("image.png").getParent());
    }

    private static void compare(Case recorded, Settings pipeline, Sample sample) {
        String prefix = "p" + pipeline.integer("index") + "_";
        ImageInfo info = sample.info();
        assertEquals(pipeline.integers("img_shape"), Pixels.shape(info.size()));
        assertEquals(pipeline.integers("pad_shape"), Pixels.shape(info.padded()));
        recorded.compare(
                prefix + "scale_factor",
                NumpyArray.of(pipeline.numbers("scale_factor")),
                NumpyArray.of(info.scaleX(), info.scaleY(), info.scaleX(), info.scaleY()),
                Tolerance.EXACT);
        boolean normalized =
                pipeline.objects("steps").stream()
                        .anyMatch(step -> step.text("type").equals("Normalize"));
        recorded.compare(
                prefix + "img",
                normalized ? Pixels.written(sample) : Pixels.of(sample.image()),
                normalized ? NORMALIZED : GRAY_LEVEL);
        LabelMap labels = sample.labels().orElseThrow();
        recorded.compare(prefix + "seg", numbers(labels), Tolerance.EXACT);
    }

    /** Returns the label values as stored in files. */
    private static NumpyArray numbers(LabelMap labels) {
        double[] numbers = new double[Math.toIntExact(labels.size().area())];
        short[] stored = labels.toArray();
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = stored[i] == LabelMap.IGNORE ? IGNORED : Short.toUnsignedInt(stored[i]);
        }
        return NumpyArray.of(numbers).reshape(labels.size().height(), labels.size().width());
    }
}

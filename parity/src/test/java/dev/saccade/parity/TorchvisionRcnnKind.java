package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A narrow variant of a recipe of torchvision's two-stage detectors, from image files to features,
 * detections with masks, losses and gradients.
 */
final class TorchvisionRcnnKind implements Kind {

    private static final Tolerance CLOSE = Tolerance.ofMax(1e-4);

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        Recipe recipe = Zoo.packaged().recipe(settings.text("recipe"));
        String[] changes = settings.texts("settings").toArray(String[]::new);
        List<String> classes = Collections.nCopies(settings.integer("num_classes"), "class");
        DetectionModel model =
                (DetectionModel) Configs.with(recipe.model(), changes).build(classes);
        model.initialize(recorded.manager(), 0);
        LoadReport report = Weights.restore(Checkpoints.open(recorded.file("weights.pth")), model);
        assertEquals(List.of(), report.unexpected());
        List<Transform> transforms = new ArrayList<>(recipe.spec().transforms());
        List<List<Integer>> scales = List.of(settings.integers("image_size"));
        Resize resize = (Resize) transforms.get(0);
        transforms.set(0, new Resize(scales, resize.mode(), true, List.of(), 1, resize.backend()));
        List<Sample> samples =
                List.of(
                        transformed(recorded, 0, targets(recorded), transforms),
                        transformed(recorded, 1, Instances.empty(), transforms));
        try (Batch batch = Batch.collate(samples)) {
            samples.forEach(Sample::close);
            ImageBatch images = batch.to(recorded.manager());
            model.train(false);
            compareInference(recorded, model, images);
            model.fuse();
            compareDetections(recorded, model, images);
            model.train(true);
            compareTraining(recorded, model, images, batch.targets());
        }
    }

    private static Sample transformed(
            Case recorded, int i, Instances targets, List<Transform> transforms) {
        Mat image = ImageReader.read(recorded.file("image" + i + ".png"));
        Size size = new Size(image.rows(), image.cols());
        return Transform.applyAll(
                transforms, Sample.of(image, ImageInfo.of(size), targets), new SplittableRandom(0));
    }

    private static Instances targets(Case recorded) {
        float[] corners = NumpyArray.of(flat(recorded.settings())).floats();
        int[] labels =
                recorded.settings().integers("gt_labels").stream()
                        .mapToInt(Integer::intValue)
                        .toArray();
        return Instances.groundTruth(Boxes.of(corners), labels)
                .withMasks(TwoStageKind.masks(recorded, "gt_masks", ""));
    }

    private static double[] flat(Settings settings) {
        List<Double> all = new ArrayList<>();
        settings.json("gt_bboxes").forEach(box -> box.forEach(x -> all.add(x.doubleValue())));
        return all.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static void compareInference(Case recorded, DetectionModel model, ImageBatch images) {
        FeaturePyramid maps = model.backbone().apply(images.pixels());
        FeaturePyramid pyramid = model.neck().orElseThrow().apply(maps);
        for (int level = 0; level < pyramid.size(); level++) {
            recorded.compare("fpn" + level, pyramid.get(level), CLOSE);
        }
        compareDetections(recorded, model, images);
    }

    private static void compareDetections(Case recorded, DetectionModel model, ImageBatch images) {
        List<Instances> found = model.predict(images);
        for (int i = 0; i < found.size(); i++) {
            Instances objects = found.get(i);
            NumpyArray expected = recorded.array("dets" + i);
            NumpyArray rows = MulticlassNmsKind.rows(objects);
            recorded.compare("labels" + i, NumpyArray.of(objects.labels()), Tolerance.EXACT);
            recorded.compare("boxes" + i, expected.columns(0, 4), rows.columns(0, 4), CLOSE);
            recorded.compare("scores" + i, expected.columns(4, 5), rows.columns(4, 5), CLOSE);
            List<Rle> masks = TwoStageKind.masks(recorded, "masks" + i, "");
            assertEquals(masks, objects.masks(), "masks of image " + i);
        }
    }

    private static void compareTraining(
            Case recorded, DetectionModel model, ImageBatch images, List<Instances> targets) {
        Backward.run(
                () -> {
                    Losses losses = model.losses(images, targets);
                    losses.terms()
                            .forEach(
                                    (name, loss) ->
                                            recorded.compare(
                                                    "train_" + name, loss.reshape(1), CLOSE));
                    return losses.total();
                });
        for (String name : recorded.names("grad:")) {
            NDArray parameter =
                    model.namedParameters().get(name.substring("grad:".length())).getArray();
            recorded.compare(name, parameter.getGradient(), CLOSE);
        }
    }
}

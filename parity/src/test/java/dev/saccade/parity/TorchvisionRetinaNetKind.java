package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.Configs;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.train.config.RunConfig;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** torchvision's RetinaNet as a recipe, from decoded images to detections and gradients. */
final class TorchvisionRetinaNetKind implements Kind {

    private static final Tolerance CLOSE = Tolerance.ofMax(1e-4);

    @Override
    public void run(Case recorded) {
        OpenCv.load();
        RunConfig config = config(recorded.settings());
        int classes = recorded.settings().integer("classes");
        DetectionModel model =
                new DetectionModel(
                        config.model(),
                        IntStream.range(0, classes).mapToObj(i -> "class " + i).toList());
        model.initialize(recorded.manager(), 0);
        assertEquals(
                List.of(), Weights.restore(recorded.checkpoint("weight:"), model).unexpected());
        List<Sample> samples = samples(recorded, config.data().valTransformsAtSize());
        try (Batch batch = Batch.collate(samples)) {
            ImageBatch images = batch.to(recorded.manager());
            recorded.compare("batch_s3", images.pixels().get(":, :, ::3, ::3"), CLOSE);
            model.train(false);
            comparePredictions(recorded, model, images, classes);
            model.train(true);
            compareTraining(recorded, model, images, batch.targets());
        } finally {
            samples.forEach(Sample::close);
        }
    }

    private static RunConfig config(Settings settings) {
        return Configs.bind(
                Configs.withOverrides(
                        Zoo.packaged().recipe(settings.text("recipe")).config(),
                        settings.texts("settings"),
                        RunConfig.class),
                RunConfig.class);
    }

    private static List<Sample> samples(Case recorded, List<Transform> transforms) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; recorded.has("image" + i); i++) {
            Mat image = Pixels.mat(recorded.array("image" + i), CvType.CV_8UC3);
            Imgproc.cvtColor(image, image, Imgproc.COLOR_RGB2BGR);
            Instances objects =
                    Instances.groundTruth(
                            Boxes.of(recorded.array("boxes" + i).floats()),
                            recorded.array("labels" + i).ints());
            ImageInfo info = ImageInfo.of(new Size(image.rows(), image.cols()));
            samples.add(
                    Transform.applyAll(
                            transforms, Sample.of(image, info, objects), new SplittableRandom(0)));
        }
        return samples;
    }

    private static void comparePredictions(
            Case recorded, DetectionModel model, ImageBatch images, int classes) {
        FeaturePyramid pyramid = model.features(images.pixels());
        for (int l = 0; l < pyramid.size(); l++) {
            recorded.compare("feature" + l, pyramid.get(l), CLOSE);
        }
        List<NDList> maps = ((RetinaNetHead) model.head()).apply(pyramid);
        recorded.compare("cls_logits", rows(maps, 0, classes), CLOSE);
        recorded.compare("bbox_regression", rows(maps, 1, 4), CLOSE);
        List<Instances> found = model.predict(images);
        for (int i = 0; i < found.size(); i++) {
            NumpyArray rows = MulticlassNmsKind.rows(found.get(i));
            recorded.compare("det_labels" + i, NumpyArray.of(found.get(i).labels()), CLOSE);
            recorded.compare("det_boxes" + i, rows.columns(0, 4), CLOSE);
            recorded.compare("det_scores" + i, rows.columns(4, 5).reshape(rows.size(0)), CLOSE);
        }
    }

    /** Returns a map of all levels in torchvision's layout, {@code [N, anchors, columns]}. */
    private static NDArray rows(List<NDList> maps, int map, int columns) {
        NDList levels = new NDList();
        for (NDList level : maps) {
            NDArray each = level.get(map).transpose(0, 2, 3, 1);
            levels.add(each.reshape(each.getShape().get(0), -1, columns));
        }
        return Tensors.concat(levels, 1);
    }

    private static void compareTraining(
            Case recorded, DetectionModel model, ImageBatch images, List<Instances> targets) {
        Backward.run(
                () -> {
                    Losses losses = model.losses(images, targets);
                    compareLoss(recorded, "classification", losses.terms().get("loss_cls"));
                    compareLoss(recorded, "bbox_regression", losses.terms().get("loss_bbox"));
                    return losses.total();
                });
        Naming.toSaccade(recorded.checkpoint("grad:"))
                .tensors()
                .forEach(
                        (name, expected) -> {
                            NDArray weight = model.namedParameters().get(name).getArray();
                            recorded.compare(
                                    name,
                                    NumpyArray.of(expected.array(recorded.manager())),
                                    NumpyArray.of(weight.getGradient()),
                                    CLOSE);
                        });
    }

    private static void compareLoss(Case recorded, String name, NDArray loss) {
        recorded.compare("loss_" + name, loss.reshape(1), CLOSE);
    }
}

package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.RetinaNetHead;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelConfig;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** A whole RetinaNet: maps, objects in the original image, losses and gradients. */
final class RetinaNetKind implements Kind {

    private static final Tolerance MAPS = Tolerance.ofMax(1e-4);
    private static final Tolerance PIXELS = Tolerance.absolute(0.05);
    private static final Tolerance SCORES = Tolerance.absolute(1e-3);

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        settings.only("cls", "RetinaNet");
        settings.describes("train_note");
        Detector detector = detector(settings.object("model"));
        RecordedWeights.load(recorded, detector);
        detector.train(false);
        NDArray pixels = recorded.tensor("img");
        ImageInfo image = image(settings.object("img_meta"));
        ImageBatch batch = new ImageBatch(pixels, List.of(image));
        compareMaps(recorded, detector, pixels);
        compareObjects(recorded, detector.predict(batch).get(0));
        compareTraining(recorded, detector, batch);
    }

    private static Detector detector(Settings model) {
        model.only("type", "RetinaNet");
        Settings backbone = model.object("backbone");
        Settings neck = model.object("neck");
        Settings head = model.object("bbox_head");
        ModelConfig config =
                new ModelConfig(
                        BackboneKind.config(backbone.text("type"), backbone),
                        NeckKind.config(neck.text("type"), neck),
                        RetinaNetSettings.head(
                                head, model.object("train_cfg"), model.object("test_cfg")));
        int numClasses = head.integer("num_classes");
        Detector detector =
                new Detector(
                        config,
                        IntStream.range(0, numClasses).mapToObj(i -> "class " + i).toList());
        neck.only("in_channels", channels(detector.backbone().features()));
        head.only("in_channels", channels(detector.neck().features()).get(0));
        List<Integer> strides =
                detector.neck().features().stream().map(FeatureInfo::stride).toList();
        head.object("anchor_generator").only("strides", strides);
        return detector;
    }

    private static List<Integer> channels(List<FeatureInfo> features) {
        return features.stream().map(FeatureInfo::channels).toList();
    }

    private static ImageInfo image(Settings meta) {
        meta.only("flip", false);
        meta.describes("flip_direction", "batch_input_shape");
        List<Double> scale = meta.numbers("scale_factor");
        return new ImageInfo(
                0,
                "",
                size(meta.integers("ori_shape")),
                size(meta.integers("img_shape")),
                size(meta.integers("pad_shape")),
                scale.get(0).floatValue(),
                scale.get(1).floatValue(),
                false);
    }

    private static Size size(List<Integer> shape) {
        return new Size(shape.get(0), shape.get(1));
    }

    private static void compareMaps(Case recorded, Detector detector, NDArray pixels) {
        FeaturePyramid maps = detector.backbone().forward(pixels);
        for (String name : recorded.names("backbone")) {
            int level = Integer.parseInt(name.substring("backbone".length()));
            recorded.compare(name, maps.get(level), MAPS);
        }
        FeaturePyramid pyramid = detector.neck().forward(maps);
        List<RetinaNetHead.Maps> predicted = ((RetinaNetHead) detector.head()).forward(pyramid);
        for (int level = 0; level < pyramid.size(); level++) {
            recorded.compare("fpn" + level, pyramid.get(level), MAPS);
            recorded.compare("cls" + level, predicted.get(level).cls(), MAPS);
            recorded.compare("reg" + level, predicted.get(level).reg(), MAPS);
        }
    }

    private static void compareObjects(Case recorded, Instances found) {
        compareObjects(recorded, "_ranked", found);
        int[] byLabel =
                IntStream.range(0, found.size())
                        .boxed()
                        .sorted(Comparator.comparing(found::label))
                        .mapToInt(Integer::intValue)
                        .toArray();
        compareObjects(recorded, "", found.select(byLabel));
    }

    private static void compareObjects(Case recorded, String suffix, Instances found) {
        recorded.compare("labels" + suffix, NumpyArray.of(found.labels()), Tolerance.EXACT);
        NumpyArray expected = recorded.array("dets" + suffix);
        NumpyArray rows = MulticlassNmsKind.rows(found);
        recorded.compare("boxes" + suffix, expected.columns(0, 4), rows.columns(0, 4), PIXELS);
        recorded.compare("scores" + suffix, expected.columns(4, 5), rows.columns(4, 5), SCORES);
    }

    private static void compareTraining(Case recorded, Detector detector, ImageBatch batch) {
        Instances targets =
                Instances.groundTruth(
                        Boxes.of(recorded.array("gt_bboxes").floats()),
                        recorded.array("gt_labels").ints());
        batch.pixels().setRequiresGradient(true);
        NDArray total =
                Backward.run(
                        () -> {
                            Losses losses = detector.losses(batch, List.of(targets));
                            losses.terms()
                                    .forEach(
                                            (name, term) ->
                                                    recorded.compare(
                                                            "train_" + name,
                                                            term.reshape(1),
                                                            MAPS));
                            return losses.total();
                        });
        recorded.compare("train_total", total.reshape(1), MAPS);
        Tolerance gradients = Tolerance.parse(recorded.settings().text("grad_tolerance"));
        NDArray thirds = batch.pixels().getGradient().get(":, :, ::3, ::3");
        recorded.compare("grad_img_s3", thirds, gradients);
        Backward.parameters(recorded, detector, gradients);
    }
}

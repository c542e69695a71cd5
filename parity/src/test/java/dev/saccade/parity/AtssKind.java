package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.anchor.AnchorGrid;
import dev.saccade.heads.anchor.AnchorTargets;
import dev.saccade.heads.anchor.AtssHead;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.loss.CenternessLoss;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A complete ATSS detector, with FPN or with FPN and DyHead: feature maps, assigned targets,
 * predictions, losses and gradients.
 */
final class AtssKind implements Kind {

    private static final Tolerance PIXELS = Tolerance.absolute(1e-3);
    private static final Tolerance CENTERNESS = Tolerance.absolute(1e-5);
    private static final Tolerance FACTOR = Tolerance.ofMax(1e-5);

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "ATSS");
        Settings model = recorded.settings().object("model");
        model.onlyClass("type", "ATSS");
        Settings head = model.object("bbox_head");
        AtssHead.Config config =
                AtssSettings.head(head, model.object("train_cfg"), model.object("test_cfg"));
        RecordedDetector built =
                new RecordedDetector(recorded, config, head.integer("num_classes"));
        built.checkFits(head);
        FeaturePyramid pyramid = built.compareFeatures();
        AtssHead atss = (AtssHead) built.detector().head();
        List<NDList> maps = atss.apply(pyramid);
        built.compareMaps("cls", maps.stream().map(map -> map.get(0)).toList());
        built.compareMaps("reg", maps.stream().map(map -> map.get(1)).toList());
        built.compareMaps("ctr", maps.stream().map(map -> map.get(2)).toList());

        List<Instances> found = built.detector().predict(built.batch());
        List<Instances> targets = new ArrayList<>();
        for (int image = 0; image < found.size(); image++) {
            built.compareObjects(image, found.get(image));
            targets.add(
                    Instances.groundTruth(
                            Boxes.of(recorded.array("gt_bboxes" + built.suffix(image)).floats()),
                            recorded.array("gt_labels" + built.suffix(image)).ints()));
        }
        compareTargets(recorded, built, config, targets, atss.grid(maps));
        built.compareTraining(() -> built.detector().losses(built.batch(), targets));
    }

    private static void compareTargets(
            Case recorded,
            RecordedDetector built,
            AtssHead.Config config,
            List<Instances> targets,
            AnchorGrid grid) {
        List<ImageInfo> images = built.batch().images();
        List<GtInstances> objects = GtInstances.of(recorded.manager(), targets);
        for (int image = 0; image < images.size(); image++) {
            Optional<AnchorGrid.Inside> inside =
                    grid.inside(images.get(image), config.settings().anchors().allowedBorder());
            Priors priors = inside.map(AnchorGrid.Inside::priors).orElseGet(grid::priors);
            Assignment assigned =
                    Assignment.assign(
                            config.settings().anchors().assigner(), priors, objects.get(image));
            int[] all = new int[grid.priors().size()];
            Arrays.fill(all, -1);
            long[] gtInds = assigned.gtInds().toLongArray();
            long[] positions =
                    inside.map(part -> part.positions().toLongArray())
                            .orElseGet(
                                    () -> IntStream.range(0, all.length).asLongStream().toArray());
            for (int i = 0; i < gtInds.length; i++) {
                all[(int) positions[i]] = (int) gtInds[i];
            }
            recorded.compare("assigned" + built.suffix(image), NumpyArray.of(all), Tolerance.EXACT);
        }
        AtssHead atss = (AtssHead) built.detector().head();
        AnchorTargets learned = atss.targets(grid, images, objects);
        recorded.compare("avg_factor", learned.avgFactor().reshape(1), FACTOR);
        recorded.compare(
                "bbox_avg_factor", atss.avgFactor("loss_bbox", learned).reshape(1), FACTOR);
        for (int image = 0; image < images.size(); image++) {
            new OfImage(learned, grid, image, images.size()).compare(recorded, built.suffix(image));
        }
    }

    /** Targets of the anchors of an image, level by level. */
    private static final class OfImage {

        private final List<Double> labels = new ArrayList<>();
        private final List<Double> weights = new ArrayList<>();
        private final List<Double> positives = new ArrayList<>();
        private final List<Double> boxes = new ArrayList<>();
        private final List<Double> centerness = new ArrayList<>();

        OfImage(AnchorTargets targets, AnchorGrid grid, int image, int images) {
            for (AnchorTargets.Level level : targets.levels()) {
                int start = labels.size();
                int size = (int) level.labels().size() / images;
                addRange(labels, NumpyArray.of(level.labels()), image * size, size);
                addRange(weights, NumpyArray.of(level.labelWeights()), image * size, size);
                long[] indices = level.positives().indices().toLongArray();
                NDArray centered = CenternessLoss.targets(level.anchors(), level.boxes());
                for (int i = 0; i < indices.length; i++) {
                    if (indices[i] / size == image) {
                        positives.add((double) (start + indices[i] % size));
                        addRange(boxes, NumpyArray.of(level.boxes()), 4 * i, 4);
                        addRange(centerness, NumpyArray.of(centered), i, 1);
                    }
                }
            }
            if (labels.size() != grid.priors().size()) {
                throw new AssertionError(labels.size() + " of " + grid.priors().size());
            }
        }

        private static void addRange(List<Double> list, NumpyArray array, int start, int count) {
            Arrays.stream(array.values(), start, start + count).forEach(list::add);
        }

        void compare(Case recorded, String suffix) {
            recorded.compare("target_labels" + suffix, NumpyArray.of(labels), Tolerance.EXACT);
            recorded.compare("label_weights" + suffix, NumpyArray.of(weights), Tolerance.EXACT);
            recorded.compare("pos_inds" + suffix, NumpyArray.of(positives), Tolerance.EXACT);
            recorded.compare(
                    "pos_targets" + suffix,
                    NumpyArray.of(boxes).reshape(positives.size(), 4),
                    PIXELS);
            recorded.compare("centerness_targets" + suffix, NumpyArray.of(centerness), CENTERNESS);
        }
    }
}

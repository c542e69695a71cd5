package dev.saccade.heads.roi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.anchor.AtssHead;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.MaxIouAssigner;
import dev.saccade.heads.box.RandomSampler;
import dev.saccade.heads.box.Rows;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Components of two-stage heads whose results can be checked without a network. */
class RoiComponentsTest {

    private static final MaxIouAssigner ASSIGNER =
            Configs.of(MaxIouAssigner.class, "neg_iou_thr=0.5", "min_pos_iou=0.5");

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void poolsRegionsFromTheLevelOfTheirSize() {
        float[] sides = {56, 111.99f, 112, 224, 447, 448, 2000, 0, Float.NaN};
        float[] boxes = new float[4 * sides.length];
        for (int i = 0; i < sides.length; i++) {
            boxes[4 * i + 2] = sides[i];
            boxes[4 * i + 3] = sides[i];
        }
        assertArrayEquals(
                new int[] {0, 0, 1, 2, 2, 3, 3, 0, 0},
                Rows.ints(
                        Configs.of(RoiExtractor.class).levels(Rows.of(manager, Boxes.of(boxes)))));
    }

    @Test
    void rejectsStridesThatThePyramidLacks() {
        List<FeatureInfo> retina = List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));
        IllegalArgumentException refusal =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> Configs.of(MaskRcnnHead.Config.class).build(retina, 3));
        assertEquals(
                "featmap_strides: got [4, 8, 16, 32], expected the first of the neck's strides"
                        + " [8, 16]",
                refusal.getMessage());
    }

    @Test
    void rejectsLevelsWithDifferentChannels() {
        List<FeatureInfo> bare =
                List.of(
                        new FeatureInfo(64, 4),
                        new FeatureInfo(128, 8),
                        new FeatureInfo(256, 16),
                        new FeatureInfo(512, 32));
        List<DetectionHead.Config> heads =
                List.of(
                        Configs.of(RetinaNetHead.Config.class),
                        Configs.of(AtssHead.Config.class),
                        Configs.of(MaskRcnnHead.Config.class),
                        Configs.of(CascadeMaskRcnnHead.Config.class),
                        Configs.of(HtcHead.Config.class));
        for (DetectionHead.Config config : heads) {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> config.build(bare, 3));
            assertEquals(
                    "got levels with [64, 128, 256, 512] channels, expected the same number in all;"
                            + " add a neck such as model.neck={type: fpn}",
                    refusal.getMessage());
        }
    }

    @Test
    void boxHeadRequiresALossWithBackground() {
        SaccadeException refusal =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(BoxHead.Config.class, "loss_cls={type: focal}"));
        String told = "loss_cls: got focal, expected a softmax loss";
        assertTrue(refusal.getMessage().contains(told), refusal.getMessage());
    }

    private RoiSamples sample(Assigner assigner, Boxes[] proposals, Instances... objects) {
        List<RoiSamples.Candidates> candidates = new ArrayList<>();
        for (Boxes boxes : proposals) {
            NDArray exists = manager.ones(new Shape(boxes.size()), DataType.BOOLEAN);
            candidates.add(new RoiSamples.Candidates(Rows.of(manager, boxes), exists));
        }
        BoxHead.Config box = Configs.of(BoxHead.Config.class);
        RandomSampler sampler = new RandomSampler(100, 0.5, -1, true);
        return RoiSamples.sample(
                new RoiStage.Config(box, assigner, sampler, 1),
                new BoxHead(box, 1, 1, 80),
                candidates,
                GtInstances.of(manager, List.of(objects)),
                80);
    }

    @Test
    void regionsInsideACrowdAreNotTrained() {
        Instances objects =
                Instances.groundTruth(Boxes.of(0, 0, 10, 10), 4)
                        .withIgnored(Boxes.of(40, 40, 80, 80));
        Boxes[] proposals = {Boxes.of(50, 50, 60, 60, 20, 20, 30, 30)};
        Assigner careful =
                Configs.of(
                        MaxIouAssigner.class,
                        "neg_iou_thr=0.5",
                        "min_pos_iou=0.5",
                        "ignore_iof_thr=0.5");
        assertEquals(
                Boxes.of(0, 0, 10, 10, 20, 20, 30, 30),
                Rows.boxes(sample(careful, proposals, objects).rois().boxes()));
        assertEquals(3, sample(ASSIGNER, proposals, objects).rois().size());
    }

    @Test
    void samplesRegionsWithTheirTargets() {
        Instances objects = Instances.groundTruth(Boxes.of(0, 0, 10, 10, 20, 20, 30, 30), 4, 2);
        Boxes proposals = Boxes.of(21, 20, 30, 30, 50, 50, 60, 60, 0, 0, 3, 3);
        Boxes[] both = {Boxes.empty(), proposals};
        RoiSamples samples = sample(ASSIGNER, both, Instances.empty(), objects);
        assertEquals(
                Boxes.concat(List.of(objects.boxes(), proposals)),
                Rows.boxes(samples.rois().boxes()));
        assertArrayEquals(new int[] {1, 1, 1, 1, 1}, Rows.ints(samples.rois().images()));
        assertArrayEquals(new int[] {4, 2, 2, 80, 80}, samples.labels().toIntArray());
        assertArrayEquals(new float[] {1, 1, 1, 1, 1}, samples.weights().toFloatArray());
        assertArrayEquals(new int[] {0, 5}, samples.counts());
        assertArrayEquals(new int[] {2, 3, 4}, Rows.where(samples.original()));
        RoiSamples.Positives learned = samples.positives();
        assertArrayEquals(new int[] {0, 1, 2}, Rows.ints(learned.positions()));
        assertArrayEquals(new int[] {4, 2, 2}, learned.labels().toIntArray());
        assertArrayEquals(new int[] {0, 1, 1}, Rows.ints(learned.objects()));
        assertEquals(
                Rows.boxes(samples.rois().boxes()).select(0, 1, 2), Rows.boxes(learned.boxes()));
        assertEquals(objects.boxes().select(0, 1, 1), Rows.boxes(learned.targets()));
    }

    /** With fixed shapes, the targets are in the first slots of each image. */
    @Test
    void emptySlotsHaveWeightZero() {
        Instances objects = Instances.groundTruth(Boxes.of(0, 0, 10, 10, 20, 20, 30, 30), 4, 2);
        Boxes proposals = Boxes.of(21, 20, 30, 30, 50, 50, 60, 60, 22, 22, 30, 30);
        Boxes[] both = {Boxes.of(1, 1, 5, 5), proposals};
        RoiSamples samples =
                DynamicShapes.callWithout(
                        () ->
                                sample(
                                        Configs.with(ASSIGNER, "neg_iou_thr=0.4"),
                                        both,
                                        Instances.empty(),
                                        objects));
        assertArrayEquals(new int[] {1, 5}, samples.counts());
        float[] weights = samples.weights().toFloatArray();
        assertArrayEquals(new float[] {1, 1, 1, 1, 1, 1}, weights);
        assertArrayEquals(new int[] {80, 4, 2, 2, 2, 80}, samples.labels().toIntArray());
        RoiSamples.Positives learned = samples.positives();
        assertArrayEquals(new float[] {0, 1, 1, 1, 1, 0}, learned.weights().toFloatArray());
        assertArrayEquals(new int[] {0, 0, 1, 1, 1, 0}, Rows.ints(learned.objects()));
        assertEquals(
                Boxes.of(0, 0, 1, 1),
                Rows.boxes(learned.targets()).select(0),
                "a filler has an area");
        assertTrue(learned.labels().max().getInt() < 80);
    }

    @Test
    void addsAFillerIfThereAreNoRegions() {
        for (boolean isFixed : new boolean[] {false, true}) {
            Supplier<RoiSamples> body =
                    () -> sample(ASSIGNER, new Boxes[] {Boxes.empty()}, Instances.empty());
            RoiSamples samples = isFixed ? DynamicShapes.callWithout(body) : body.get();
            assertArrayEquals(new float[1], samples.weights().toFloatArray());
            assertEquals(Boxes.of(0, 0, 1, 1), Rows.boxes(samples.rois().boxes()));
            assertArrayEquals(new float[1], samples.positives().weights().toFloatArray());
            assertArrayEquals(new int[1], samples.counts());
        }
    }
}

package dev.saccade.heads.roi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rois;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.MaxIouAssigner;
import dev.saccade.heads.box.RandomSampler;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The parts whose results can be told without a network. */
class RoiPartsTest {

    @Test
    void regionsAreLookedUpOnTheLevelOfTheirSize() {
        float[] sides = {56, 111.99f, 112, 224, 447, 448, 2000, 0};
        float[] boxes = new float[4 * sides.length];
        for (int i = 0; i < sides.length; i++) {
            boxes[4 * i + 2] = sides[i];
            boxes[4 * i + 3] = sides[i];
        }
        assertArrayEquals(
                new int[] {0, 0, 1, 2, 2, 3, 3, 0},
                Configs.of(RoiExtractor.class).levels(Boxes.of(boxes)));
    }

    @Test
    void anExtractorNeedsTheLevelsOfThePyramid() {
        List<FeatureInfo> retina = List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));
        IllegalArgumentException refusal =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> Configs.of(MaskRcnnHead.Config.class).build(retina, 3));
        assertEquals(
                "featmap_strides: got [4, 8, 16, 32], expected the first of the neck's [8, 16]",
                refusal.getMessage());
    }

    @Test
    void aBoxHeadNeedsALossThatTellsBackground() {
        SaccadeException refusal =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(BoxHead.Config.class, "loss_cls={type: focal}"));
        String told = "loss_cls: got focal, expected a loss of one softmax";
        assertTrue(refusal.getMessage().contains(told), refusal.getMessage());
    }

    private static RoiStage stage(Assigner assigner) {
        BoxHead.Config box = Configs.of(BoxHead.Config.class);
        RandomSampler sampler = new RandomSampler(100, 0.5, -1, true);
        return new RoiStage(
                new RoiStage.Config(box, assigner, sampler, 1),
                0,
                "",
                new BoxHead(box, 1, 1, 80),
                Optional.empty());
    }

    @Test
    void regionsInsideOfACrowdAreNotTrained() {
        Instances objects =
                Instances.groundTruth(Boxes.of(0, 0, 10, 10), 4)
                        .withIgnored(Boxes.of(40, 40, 80, 80));
        Boxes proposals = Boxes.of(50, 50, 60, 60, 20, 20, 30, 30);
        Assigner careful =
                Configs.of(
                        MaxIouAssigner.class,
                        "neg_iou_thr=0.5",
                        "min_pos_iou=0.5",
                        "ignore_iof_thr=0.5");
        Assigner careless = Configs.of(MaxIouAssigner.class, "neg_iou_thr=0.5", "min_pos_iou=0.5");
        assertEquals(
                Boxes.of(0, 0, 10, 10, 20, 20, 30, 30),
                stage(careful).sample(List.of(proposals), List.of(objects), 80).rois().boxes());
        assertEquals(
                3, stage(careless).sample(List.of(proposals), List.of(objects), 80).rois().size());
    }

    @Test
    void regionsComeWithWhatTheyShouldFind() {
        Instances objects = Instances.groundTruth(Boxes.of(0, 0, 10, 10, 20, 20, 30, 30), 4, 2);
        Boxes proposals = Boxes.of(21, 20, 30, 30, 50, 50, 60, 60, 0, 0, 3, 3);
        MaxIouAssigner assigner =
                Configs.of(MaxIouAssigner.class, "neg_iou_thr=0.5", "min_pos_iou=0.5");
        RoiSamples samples =
                stage(assigner)
                        .sample(
                                List.of(Boxes.empty(), proposals),
                                List.of(Instances.empty(), objects),
                                80);
        assertEquals(Boxes.concat(List.of(objects.boxes(), proposals)), samples.rois().boxes());
        assertArrayEquals(new int[] {1, 1, 1, 1, 1}, samples.rois().images());
        assertArrayEquals(new int[] {4, 2, 2, 80, 80}, samples.labels());
        assertArrayEquals(new int[] {0, 1, 2}, samples.positives());
        assertEquals(objects.boxes().select(0, 1, 1), samples.targets());
        assertArrayEquals(new boolean[] {true, true, false, false, false}, samples.repeated());
    }

    @Test
    void keepsTheOrderOfImagesInABatch() {
        Boxes[] boxes =
                IntStream.range(0, 3)
                        .mapToObj(n -> Boxes.of(n, n, n + 5, n + 5))
                        .toArray(Boxes[]::new);
        Rois rois = Rois.of(List.of(boxes[0], Boxes.empty(), boxes[2]));
        assertEquals(List.of(boxes[0], Boxes.empty(), boxes[2]), rois.byImage(3));
    }
}

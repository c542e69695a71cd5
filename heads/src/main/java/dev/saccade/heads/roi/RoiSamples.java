package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Positions;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.SamplingResult;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Sampled regions of a batch, ordered by image: positives, then background, then fillers (see
 * {@link Positions}).
 *
 * @param rois R regions, at least one
 * @param labels {@code [R]} int32; C for background
 * @param weights {@code [R]} float32: 1, or 0 for fillers
 * @param original {@code [R]} boolean: false for copies of ground-truth boxes and for fillers
 * @param counts regions per image, including fillers; all 0 if the only region is an added filler
 */
@SuppressWarnings("ArrayRecordComponent") // a short array
record RoiSamples(
        Rois rois,
        NDArray labels,
        NDArray weights,
        NDArray original,
        int[] counts,
        Positives positives) {

    /**
     * Regions assigned to an object, and fillers with weight 0 and arbitrary but valid values.
     *
     * @param positions {@code [P]} int64 indices into all regions, at least one
     * @param objects {@code [P]} int64 indices into the objects of the batch
     * @param boxes {@code [P, 4]} the regions, with positive area
     * @param targets {@code [P, 4]} ground-truth boxes, with positive area
     */
    record Positives(
            NDArray positions,
            NDArray weights,
            NDArray labels,
            NDArray objects,
            NDArray boxes,
            NDArray targets) {}

    /** Regions {@code [N, 4]} of an image; only {@code valid [N]} regions are sampled. */
    record Candidates(NDArray boxes, NDArray valid) {

        static List<Candidates> of(Detections proposals) {
            NDArray valid = proposals.validMask();
            return IntStream.range(0, Math.toIntExact(valid.getShape().get(0)))
                    .mapToObj(n -> new Candidates(proposals.boxes().get(n), valid.get(n)))
                    .toList();
        }
    }

    /** Samples of one image from {@code [N, 4]} candidates: added ground-truth boxes come first. */
    private record ImageSamples(NDArray candidates, NDArray gtInds, Positions sampled) {}

    /** A unit box for fillers, because zero-area boxes yield infinite deltas. */
    private static final String UNIT =
            """
            device = boxes[0].device
            origin = torch.zeros([1, 2], dtype=6, device=device)
            unit = torch.cat([origin, torch.ones([1, 2], dtype=6, device=device)], 1)
            """;

    private static final ScriptTemplate JOINED =
            ScriptTemplate.of(
                    "(boxes: List[Tensor], gt_inds: List[Tensor], indices: List[Tensor],"
                            + " weights: List[Tensor], objects: List[Tensor],"
                            + " labels: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor, Tensor,"
                            + " Tensor, Tensor, Tensor, Tensor]",
                    UNIT
                            + """
                            regions = annotate(List[Tensor], [])
                            images = annotate(List[Tensor], [])
                            counted = annotate(List[Tensor], [])
                            assigned_gt = annotate(List[Tensor], [])
                            original = annotate(List[Tensor], [])
                            first = annotate(List[Tensor], [])
                            total = 0
                            known = 0
                            for n in range(torch.len(boxes)):
                              at = indices[n]
                              there = torch.gt(weights[n], 0)
                              selected = torch.index_select(boxes[n], 0, at)
                              gt = torch.index_select(gt_inds[n], 0, at)
                              positive = torch.logical_and(there, torch.gt(gt, 0))
                              copies = 0
                              if {add_gt}:
                                copies = torch.size(objects[n], 0)
                              count = torch.size(at, 0)
                              slots = count
                              if slots > {num_pos}:
                                slots = {num_pos}
                              _0 = torch.append(regions, torch.where(torch.unsqueeze(there, 1), selected, unit))
                              _1 = torch.append(images, torch.full_like(at, n))
                              _2 = torch.append(counted, weights[n])
                              _3 = torch.append(assigned_gt, torch.where(positive, torch.add(gt, known), 0))
                              _4 = torch.append(original, torch.logical_and(there, torch.ge(at, copies)))
                              _5 = torch.append(first, torch.arange(total, total + slots, dtype=4, device=device))
                              total = total + count
                              known = known + torch.size(objects[n], 0)
                            if total == 0:
                              _6 = torch.append(regions, unit)
                              _7 = torch.append(images, torch.zeros([1], dtype=4, device=device))
                              _8 = torch.append(counted, torch.zeros([1], dtype=6, device=device))
                              _9 = torch.append(assigned_gt, torch.zeros([1], dtype=4, device=device))
                              _10 = torch.append(original, torch.zeros([1], dtype=11, device=device))
                            gt = torch.cat(assigned_gt)
                            slots = torch.cat(first)
                            shown = torch.cat([torch.full([1], {background}, dtype=3, device=device), torch.cat(labels)])
                            return (torch.cat(regions), torch.cat(images), torch.index_select(shown, 0, gt), torch.cat(counted), torch.cat(original), gt, slots, torch.gt(torch.index_select(gt, 0, slots), 0))
                            """);

    private static final ScriptTemplate POSITIVES =
            ScriptTemplate.of(
                    "(boxes: List[Tensor], slots: List[Tensor], found: List[Tensor],"
                            + " objects: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor, Tensor,"
                            + " Tensor, Tensor]",
                    UNIT
                            + """
                            at = torch.index_select(slots[0], 0, found[0])
                            weights = found[1]
                            if torch.size(at, 0) == 0:
                              at = torch.zeros([1], dtype=4, device=device)
                              weights = torch.zeros([1], dtype=6, device=device)
                            there = torch.unsqueeze(torch.gt(weights, 0), 1)
                            gt = torch.where(torch.gt(weights, 0), torch.index_select(slots[1], 0, at), 0)
                            label = torch.clamp(torch.index_select(slots[2], 0, at), 0, {background} - 1)
                            region = torch.where(there, torch.index_select(boxes[0], 0, at), unit)
                            target = torch.index_select(torch.cat([unit, torch.cat(objects)]), 0, gt)
                            return (at, weights, label, torch.clamp(torch.sub(gt, 1), 0), region, target)
                            """);

    /**
     * Samples the training regions of a stage. The path of {@code head} (the box head, or the mask
     * head if it samples its own regions) seeds the sampler.
     */
    static RoiSamples sample(
            RoiStage.Config stage,
            Module head,
            List<Candidates> candidates,
            List<GtInstances> objects,
            int background) {
        List<ImageSamples> images = new ArrayList<>();
        for (int n = 0; n < candidates.size(); n++) {
            SplittableRandom random = SampleRandom.of(n, head.path());
            images.add(sample(stage, candidates.get(n), objects.get(n), random));
        }
        return join(images, objects, stage, background);
    }

    private static ImageSamples sample(
            RoiStage.Config stage,
            Candidates candidates,
            GtInstances objects,
            SplittableRandom random) {
        NDArray boxes = candidates.boxes();
        Assignment found = Assignment.assign(stage.assigner(), new Priors(boxes), objects);
        NDArray gtInds = Functional.where(candidates.valid(), found.gtInds(), -1);
        Assignment assignment = new Assignment(gtInds, found.maxOverlaps());
        if (stage.sampler().addGtAsProposals() && objects.size() > 0) {
            boxes = objects.boxes().concat(boxes);
            assignment = assignment.withObjects(objects);
        }
        SamplingResult result = SamplingResult.sample(stage.sampler(), assignment, random);
        return new ImageSamples(
                boxes, assignment.gtInds(), result.positions(stage.sampler().num()));
    }

    private static RoiSamples join(
            List<ImageSamples> images,
            List<GtInstances> objects,
            RoiStage.Config stage,
            int background) {
        List<NDArray> corners = objects.stream().map(GtInstances::boxes).toList();
        Map<String, ?> constants =
                Map.of(
                        "add_gt", stage.sampler().addGtAsProposals(),
                        "num_pos", stage.sampler().numPos(),
                        "background", background);
        NDList joined =
                JOINED.with(constants)
                        .runLists(
                                List.of(
                                        images.stream().map(ImageSamples::candidates).toList(),
                                        images.stream().map(ImageSamples::gtInds).toList(),
                                        images.stream().map(of -> of.sampled().indices()).toList(),
                                        images.stream().map(of -> of.sampled().weights()).toList(),
                                        corners,
                                        objects.stream().map(GtInstances::labels).toList()));
        NDArray boxes = joined.get(0);
        NDArray labels = joined.get(2);
        Positions positive = Positions.where(joined.get(7));
        NDList p =
                POSITIVES
                        .with(Map.of("background", background))
                        .runLists(
                                List.of(
                                        List.of(boxes),
                                        List.of(joined.get(6), joined.get(5), labels),
                                        List.of(positive.indices(), positive.weights()),
                                        corners));
        return new RoiSamples(
                new Rois(boxes, joined.get(1)),
                labels,
                joined.get(3),
                joined.get(4),
                images.stream().mapToInt(of -> Math.toIntExact(of.sampled().size())).toArray(),
                new Positives(p.get(0), p.get(1), p.get(2), p.get(3), p.get(4), p.get(5)));
    }

    /** Returns the regions with refined boxes, as candidates of the next stage. */
    List<Candidates> refined(NDArray boxes) {
        NDList ofImages = Priors.split(boxes, 0, counts);
        NDList valid = Priors.split(original, 0, counts);
        return IntStream.range(0, counts.length)
                .mapToObj(n -> new Candidates(ofImages.get(n), valid.get(n)))
                .toList();
    }
}

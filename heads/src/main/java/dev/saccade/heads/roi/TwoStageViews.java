package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds objects in several views of one image, such as scales and mirror images, as mmdetection's
 * {@code aug_test}: proposals of all views are joined, each view scores, regresses and draws all of
 * them, and the means over the views count.
 *
 * @param head what looks at the views
 * @param views the pyramid of each view, a batch of one
 * @param images what was done to the image in each view
 */
record TwoStageViews(TwoStageHead head, List<FeaturePyramid> views, List<ImageInfo> images) {

    /** Returns the objects, in the coordinates of the image. */
    Instances predict() {
        return NoGrad.call(() -> Scope.call(this::predicted));
    }

    private Instances predicted() {
        List<TwoStageInference> looks =
                IntStream.range(0, views.size()).mapToObj(this::view).toList();
        Detections proposals = head.rpn().proposeViews(views, images);
        Instances found = head.select(score(looks, proposals)).toInstances().get(0);
        return head.hasMasks() ? found.withMasks(masks(looks, found)) : found;
    }

    private static ScoredBoxes score(List<TwoStageInference> looks, Detections proposals) {
        List<NDArray> boxes = new ArrayList<>();
        List<NDArray> scores = new ArrayList<>();
        for (TwoStageInference view : looks) {
            Detections seen = proposals.mapBoxes(view.frames()::fromOriginal);
            ScoredBoxes scored = view.toOriginal(view.score(seen));
            boxes.add(scored.boxes());
            scores.add(scored.scores());
        }
        return new ScoredBoxes(mean(boxes), mean(scores));
    }

    private List<Rle> masks(List<TwoStageInference> looks, Instances found) {
        if (found.size() == 0) {
            return List.of();
        }
        List<NDArray> masks = looks.stream().map(view -> view.masks(List.of(found))).toList();
        return head.paste(Tensors.readFloats(mean(masks)), found.boxes(), images.get(0).original());
    }

    private TwoStageInference view(int v) {
        return new TwoStageInference(head, head.look(views.get(v)), List.of(images.get(v)));
    }

    private static NDArray mean(List<NDArray> views) {
        NDArray sum = views.stream().reduce(NDArray::add).orElseThrow();
        return sum.div(Tensors.of(sum.getManager(), views.size()));
    }
}

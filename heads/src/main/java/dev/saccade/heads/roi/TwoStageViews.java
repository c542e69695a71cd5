package dev.saccade.heads.roi;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.List;

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
        ScoredBoxes scored = score(head.rpn().predictViews(views, images).boxes());
        Instances found = head.select(scored);
        return head.hasMasks() ? found.withMasks(masks(found)) : found;
    }

    private ScoredBoxes score(Boxes proposals) {
        Mean boxes = new Mean();
        Mean scores = new Mean();
        for (int v = 0; v < views.size(); v++) {
            ImageInfo image = images.get(v);
            List<Boxes> seen = List.of(image.fromOriginal(proposals));
            ScoredBoxes scored = head.score(views.get(v), List.of(image), seen).get(0);
            boxes.add(image.toOriginal(scored.boxes()).toArray());
            scores.add(scored.scores());
        }
        return new ScoredBoxes(Boxes.of(boxes.get()), scores.get());
    }

    private List<Rle> masks(Instances found) {
        Mean mean = new Mean();
        for (int v = 0; v < views.size(); v++) {
            List<ImageInfo> image = List.of(images.get(v));
            mean.add(head.drawMasks(views.get(v), image, List.of(found)).get(0));
        }
        return head.paste(mean.get(), found.boxes(), images.get(0).original());
    }

    /** The mean of arrays of one length. */
    private static final class Mean {

        private float[] sum;
        private int count;

        void add(float[] values) {
            if (sum == null) {
                sum = new float[values.length];
            }
            for (int i = 0; i < values.length; i++) {
                sum[i] += values[i];
            }
            count++;
        }

        float[] get() {
            float[] mean = new float[sum.length];
            for (int i = 0; i < mean.length; i++) {
                mean[i] = sum[i] / count;
            }
            return mean;
        }
    }
}

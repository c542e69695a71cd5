package dev.saccade.eval.segmentation;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Map;

/**
 * Boundary IoU of each class over any number of label maps (Cheng et al., 2021). Boundaries are 2 %
 * of the image diagonal wide; pixels are summed over all maps before dividing. Pixels ignored in
 * the ground truth do not count. Thread-safe.
 */
public final class BoundaryIou {

    private final long[] intersection;
    private final long[] union;

    public BoundaryIou(int classes) {
        intersection = new long[classes];
        union = new long[classes];
    }

    /** Adds a ground-truth map and a prediction of the same size. */
    public void add(LabelMap truth, LabelMap predicted) {
        Map<Integer, Rle> regions = truth.masks();
        Map<Integer, Rle> found = predicted.copyIgnored(truth).masks();
        Rle none = Rle.empty(truth.size());
        for (int label = 0; label < union.length; label++) {
            if (regions.containsKey(label) || found.containsKey(label)) {
                add(label, regions.getOrDefault(label, none), found.getOrDefault(label, none));
            }
        }
    }

    private void add(int label, Rle truth, Rle predicted) {
        List<Rle> boundaries = List.of(truth.boundary(), predicted.boundary());
        add(label, Rle.intersection(boundaries).area(), Rle.union(boundaries).area());
    }

    private synchronized void add(int label, long both, long either) {
        intersection[label] += both;
        union[label] += either;
    }

    void write(ByteArrayDataOutput out) {
        for (int label = 0; label < union.length; label++) {
            out.writeLong(intersection[label]);
            out.writeLong(union[label]);
        }
    }

    void add(ByteArrayDataInput in) {
        for (int label = 0; label < union.length; label++) {
            add(label, in.readLong(), in.readLong());
        }
    }

    /** Returns the Boundary IoU of a class; -1 if the class is neither labeled nor predicted. */
    public double iou(int label) {
        return union[label] == 0 ? -1 : (double) intersection[label] / union[label];
    }
}

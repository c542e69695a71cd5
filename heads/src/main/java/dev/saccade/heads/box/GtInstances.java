package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.List;

/**
 * Ground-truth objects of an image on the device of the features.
 *
 * @param boxes {@code [K, 4]} float32 corners with positive area
 * @param labels {@code [K]} int32, from 0
 * @param ignored {@code [I, 4]} float32 corners of the ignored regions
 */
public record GtInstances(NDArray boxes, NDArray labels, NDArray ignored) {

    /** Returns the objects of each image; copies all images together and drops zero-area boxes. */
    public static List<GtInstances> of(NDManager manager, List<Instances> images) {
        List<Boxes> boxes = new ArrayList<>();
        List<int[]> labels = new ArrayList<>();
        for (Instances image : images) {
            Instances trained = image.withArea();
            boxes.add(trained.boxes());
            boxes.add(trained.ignored());
            labels.add(trained.labels());
        }
        NDList corners =
                Priors.split(
                        rows(manager, Boxes.concat(boxes)),
                        0,
                        boxes.stream().mapToInt(Boxes::size).toArray());
        int[] all = Ints.concat(labels.toArray(int[][]::new));
        NDList split =
                Priors.split(
                        Tensors.of(manager, all, new Shape(all.length)),
                        0,
                        labels.stream().mapToInt(each -> each.length).toArray());
        ImmutableList.Builder<GtInstances> objects = ImmutableList.builder();
        for (int n = 0; n < images.size(); n++) {
            objects.add(new GtInstances(corners.get(2 * n), split.get(n), corners.get(2 * n + 1)));
        }
        return objects.build();
    }

    private static NDArray rows(NDManager manager, Boxes boxes) {
        return Tensors.of(manager, boxes.toArray(), new Shape(boxes.size(), 4));
    }

    public int size() {
        return Math.toIntExact(boxes.getShape().get(0));
    }

    /** Returns a copy with label 0 for all objects. */
    public GtInstances classAgnostic() {
        return new GtInstances(boxes, labels.zerosLike(), ignored);
    }
}

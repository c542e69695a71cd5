package dev.saccade.eval.coco;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/** The objects and detections of each image, whatever their class. */
public final class ImageIndex {

    private final int[][] objects;
    private final int[][] detections;

    /** Sorts by image. */
    public ImageIndex(GroundTruth groundTruth, CocoDetections detections) {
        int images = groundTruth.imageIds().length();
        Map<Long, Integer> indices = new HashMap<>();
        for (int i = 0; i < images; i++) {
            indices.put(groundTruth.imageIds().get(i), i);
        }
        int[] imageOfObject =
                IntStream.range(0, groundTruth.size()).map(groundTruth::image).toArray();
        int[] imageOfDetection =
                IntStream.range(0, detections.size())
                        .map(d -> indices.get(detections.imageId(d)))
                        .toArray();
        this.objects = grouped(imageOfObject, images);
        this.detections = grouped(imageOfDetection, images);
        for (int[] ofImage : this.detections) {
            StableSort.descending(ofImage, 0, ofImage.length, detections::score);
        }
    }

    /** Returns the number of images. */
    public int size() {
        return objects.length;
    }

    /** Returns the objects of an image, in the order of the data set. */
    public int[] objects(int image) {
        return objects[image];
    }

    /** Returns the detections of an image by descending score, of equal ones the earlier first. */
    public int[] detections(int image) {
        return detections[image];
    }

    private static int[][] grouped(int[] imageOf, int images) {
        int[] counts = new int[images];
        Arrays.stream(imageOf).forEach(image -> counts[image]++);
        int[][] groups = new int[images][];
        Arrays.setAll(groups, image -> new int[counts[image]]);
        for (int i = imageOf.length - 1; i >= 0; i--) {
            groups[imageOf[i]][--counts[imageOf[i]]] = i;
        }
        return groups;
    }
}

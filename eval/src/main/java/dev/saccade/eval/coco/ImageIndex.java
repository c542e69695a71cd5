package dev.saccade.eval.coco;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Objects and detections of each image, across classes. */
public final class ImageIndex {

    private final int images;
    private final ClassImageIndex objects;
    private final ClassImageIndex detections;

    public ImageIndex(GroundTruth groundTruth, CocoDetections detections) {
        this.images = groundTruth.imageCount();
        Map<Long, Integer> indices = new HashMap<>();
        for (int i = 0; i < images; i++) {
            indices.put(groundTruth.imageId(i), i);
        }
        this.objects = index(groundTruth.size(), groundTruth::image);
        this.detections = index(detections.size(), d -> indices.get(detections.imageId(d)));
        for (int i = 0; i < images; i++) {
            int end = this.detections.first(i + 1);
            this.detections.sort(this.detections.first(i), end, detections::score);
        }
    }

    private static ClassImageIndex index(int size, IntUnaryOperator imageOf) {
        int[] entries = IntStream.range(0, size).toArray();
        return new ClassImageIndex(entries, IntStream.of(entries).map(imageOf).toArray());
    }

    public int size() {
        return images;
    }

    /** Returns the indices of the objects of an image, in the order of the data set. */
    public int[] objects(int image) {
        return objects.entries(image);
    }

    /** Returns the indices of an image's detections by descending score; ties keep their order. */
    public int[] detections(int image) {
        return detections.entries(image);
    }
}

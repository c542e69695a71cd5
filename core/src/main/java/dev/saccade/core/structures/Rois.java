package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Regions of interest in the images of a batch.
 *
 * @param boxes [R] boxes in the coordinates of the network input
 * @param images [R] position in the batch of the image that each lies in
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record Rois(Boxes boxes, int[] images) {

    /** Checks that every box has an image. */
    public Rois {
        checkArgument(
                boxes.size() == images.length, "%s boxes, %s images", boxes.size(), images.length);
    }

    /** Returns the boxes of each image of a batch, image after image. */
    public static Rois of(List<Boxes> byImage) {
        Boxes boxes = Boxes.concat(byImage);
        int[] images = new int[boxes.size()];
        int start = 0;
        for (int n = 0; n < byImage.size(); n++) {
            int end = start + byImage.get(n).size();
            Arrays.fill(images, start, end, n);
            start = end;
        }
        return new Rois(boxes, images);
    }

    /** Returns the number of regions. */
    public int size() {
        return images.length;
    }

    /**
     * Returns the boxes of each image, in their order.
     *
     * @param batch number of images
     */
    public List<Boxes> byImage(int batch) {
        return IntStream.range(0, batch)
                .mapToObj(
                        n ->
                                boxes.select(
                                        IntStream.range(0, images.length)
                                                .filter(i -> images[i] == n)
                                                .toArray()))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns the regions at the given positions, in their order. */
    public Rois select(int... positions) {
        return new Rois(
                boxes.select(positions), Arrays.stream(positions).map(i -> images[i]).toArray());
    }
}

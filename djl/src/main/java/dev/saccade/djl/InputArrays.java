package dev.saccade.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Augmented images as two arrays each: pixels {@code [1, 3, H, W]} float32, and geometry {@code
 * [9]} float64: height and width of the original, the resized and the padded image, the horizontal
 * and vertical scales, and 1 if flipped.
 */
final class InputArrays {

    private InputArrays() {}

    static NDList of(List<ImageBatch> batches, NDManager manager) {
        NDList arrays = new NDList();
        for (ImageBatch batch : batches) {
            arrays.add(batch.pixels());
            arrays.add(manager.create(geometry(batch.images().get(0))));
        }
        return arrays;
    }

    private static double[] geometry(ImageInfo info) {
        DoubleStream sizes =
                Stream.of(info.original(), info.size(), info.padded())
                        .flatMapToDouble(size -> DoubleStream.of(size.height(), size.width()));
        DoubleStream others = DoubleStream.of(info.scaleX(), info.scaleY(), info.flipped() ? 1 : 0);
        return DoubleStream.concat(sizes, others).toArray();
    }

    static List<ImageBatch> batches(NDList arrays) {
        List<ImageBatch> batches = new ArrayList<>();
        for (int i = 0; i < arrays.size(); i += 2) {
            batches.add(new ImageBatch(arrays.get(i), List.of(info(arrays.get(i + 1)))));
        }
        return batches;
    }

    private static ImageInfo info(NDArray array) {
        double[] geometry = array.toDoubleArray();
        ImageInfo info =
                ImageInfo.of(size(geometry, 0))
                        .resized(size(geometry, 2), (float) geometry[6], (float) geometry[7])
                        .padded(size(geometry, 4));
        return geometry[8] == 0 ? info : info.flipHorizontal();
    }

    private static Size size(double[] geometry, int first) {
        return new Size((int) geometry[first], (int) geometry[first + 1]);
    }
}

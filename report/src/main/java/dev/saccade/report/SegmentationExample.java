package dev.saccade.report;

import com.google.common.io.ByteSource;

import java.util.Set;

/**
 * A validation image with the colors of its classes.
 *
 * @param name of the image
 * @param truth JPEG of the image and its ground truth
 * @param predicted JPEG of the image and its prediction
 * @param labels all that occur in either
 * @param agreement mean IoU of both, from 0 to 1; NaN without labeled pixels
 * @param tally summary of the errors
 */
public record SegmentationExample(
        String name,
        ByteSource truth,
        ByteSource predicted,
        Set<Integer> labels,
        double agreement,
        String tally)
        implements Example {

    @Override
    public double mistakes(double threshold) {
        return Double.isNaN(agreement) ? -1e9 : -agreement;
    }

    @Override
    public String tally(double threshold) {
        return tally;
    }
}

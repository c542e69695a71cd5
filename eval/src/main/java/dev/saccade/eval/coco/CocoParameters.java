package dev.saccade.eval.coco;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.Comparators;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Evaluation parameters; COCO's thresholds and area ranges are fixed.
 *
 * @param areaOf whether the area of a detection is its box or mask area; for masks, COCO uses the
 *     mask area, mmdetection before 2.12 the box area
 * @param maxDetections ascending limits per image and class, pycocotools' {@code maxDets}
 * @param useClasses whether a detection must have the class of its object; false evaluates
 *     proposals
 */
public record CocoParameters(
        IouType iouType, IouType areaOf, List<Integer> maxDetections, boolean useClasses) {

    public static final ImmutableList<Integer> OFFICIAL_LIMITS = ImmutableList.of(1, 10, 100);

    /** IoU thresholds 0.50, 0.55, ... 0.95, with the rounding of {@code numpy.linspace}. */
    public static final ImmutableDoubleArray IOU_THRESHOLDS =
            ImmutableDoubleArray.copyOf(
                    IntStream.range(0, 10)
                            .mapToDouble(i -> i == 9 ? .95 : .5 + i * ((.95 - .5) / 9)));

    /** Recall thresholds 0, 0.01, ... 1, with the rounding of {@code numpy.linspace}. */
    public static final ImmutableDoubleArray RECALL_THRESHOLDS =
            ImmutableDoubleArray.copyOf(
                    IntStream.range(0, 101).mapToDouble(i -> i == 100 ? 1 : i * .01));

    public CocoParameters {
        maxDetections = List.copyOf(maxDetections);
        checkArgument(
                !maxDetections.isEmpty()
                        && maxDetections.get(0) > 0
                        && Comparators.isInStrictOrder(maxDetections, Comparator.naturalOrder()),
                "max_dets: got %s, expected ascending limits such as %s",
                maxDetections,
                OFFICIAL_LIMITS);
    }

    /** Returns COCO's official parameters, with limits of 1, 10 and 100 detections. */
    public static CocoParameters official(IouType iouType) {
        return new CocoParameters(iouType, iouType, OFFICIAL_LIMITS, true);
    }

    /** Returns the largest limit on the detections per image and class. */
    public int maxDetectionLimit() {
        return maxDetections.get(maxDetections.size() - 1);
    }
}

package dev.saccade.eval;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;

/**
 * What a detector found, in columns and in double precision.
 *
 * <p>The order counts: of detections with the same score the earlier one is matched first, as in
 * pycocotools.
 */
public final class Detections {

    private final ImmutableLongArray imageIds;
    private final ImmutableIntArray labels;
    private final ImmutableDoubleArray boxes;
    private final ImmutableDoubleArray scores;
    private final List<Rle> masks;
    private final ImmutableIntArray maskAreas;

    private Detections(Builder builder) {
        this.imageIds = builder.imageIds.build();
        this.labels = builder.labels.build();
        this.boxes = builder.boxes.build();
        this.scores = builder.scores.build();
        this.masks = builder.masks.build();
        this.maskAreas = builder.maskAreas.build();
    }

    /** Collects detections; either all of them have a mask or none. Not thread-safe. */
    public static final class Builder {

        private final ImmutableLongArray.Builder imageIds = ImmutableLongArray.builder();
        private final ImmutableIntArray.Builder labels = ImmutableIntArray.builder();
        private final ImmutableDoubleArray.Builder boxes = ImmutableDoubleArray.builder();
        private final ImmutableDoubleArray.Builder scores = ImmutableDoubleArray.builder();
        private final ImmutableList.Builder<Rle> masks = ImmutableList.builder();
        private final ImmutableIntArray.Builder maskAreas = ImmutableIntArray.builder();
        private int size;
        private int masked;

        /**
         * Adds a box.
         *
         * @param imageId the id of the image in the data set
         * @param label the class, from 0
         * @param x left edge in pixels of the original image
         * @param y top edge
         * @param width in pixels
         * @param height in pixels
         * @param score the larger the surer
         * @throws SaccadeException if a number is not finite
         */
        public Builder add(
                long imageId,
                int label,
                double x,
                double y,
                double width,
                double height,
                double score) {
            if (!allFinite(x, y, width, height, score)) {
                throw SaccadeException.user(
                        "detection in image %d: expected finite numbers, got box [%s, %s, %s, %s]"
                                + " with score %s",
                        imageId, x, y, width, height, score);
            }
            imageIds.add(imageId);
            labels.add(label);
            boxes.add(x).add(y).add(width).add(height);
            scores.add(score);
            size++;
            return this;
        }

        /** Adds a mask, whose bounds are the box. */
        public Builder add(long imageId, int label, Rle mask, double score) {
            Rle.Bounds box = mask.bounds();
            add(imageId, label, box.x(), box.y(), box.width(), box.height(), score);
            return masked(mask);
        }

        /**
         * Adds the objects predicted in an image, in their order, with their masks if they have
         * any.
         *
         * @param predicted with boxes in pixels of the original image
         * @throws SaccadeException if a number is not finite, which the model is to blame for
         */
        public Builder add(long imageId, Instances predicted) {
            for (int i = 0; i < predicted.size(); i++) {
                double x = predicted.boxes().x1(i);
                double y = predicted.boxes().y1(i);
                double width = predicted.boxes().x2(i) - x;
                double height = predicted.boxes().y2(i) - y;
                double score = predicted.score(i);
                if (!allFinite(x, y, width, height, score)) {
                    throw SaccadeException.user(
                            "image %d: the model predicts numbers that are not finite: box [%s, %s,"
                                    + " %s, %s] with score %s; learning has diverged: lower"
                                    + " optimizer.learning_rate, lengthen schedule.warmup or set"
                                    + " max_gradient_norm, and train anew",
                            imageId, x, y, width, height, score);
                }
                add(imageId, predicted.label(i), x, y, width, height, score);
                if (predicted.hasMasks()) {
                    masked(predicted.mask(i));
                }
            }
            return this;
        }

        private static boolean allFinite(double... numbers) {
            return DoubleStream.of(numbers).allMatch(Double::isFinite);
        }

        /** Gives the detection that was added last a mask. */
        private Builder masked(Rle mask) {
            masks.add(mask);
            maskAreas.add(mask.area());
            masked++;
            return this;
        }

        /** Returns what was added. */
        public Detections build() {
            checkState(masked == 0 || masked == size, "%s of %s have masks", masked, size);
            return new Detections(this);
        }
    }

    /** Returns the number of detections. */
    public int size() {
        return labels.length();
    }

    /** Returns the id of the image of a detection. */
    public long imageId(int detection) {
        return imageIds.get(detection);
    }

    /** Returns the class of a detection. */
    public int label(int detection) {
        return labels.get(detection);
    }

    /** Returns the score of a detection. */
    public double score(int detection) {
        return scores.get(detection);
    }

    /** Returns x, y, width and height of a detection. */
    public ImmutableDoubleArray box(int detection) {
        return boxes.subArray(4 * detection, 4 * detection + 4);
    }

    /** Returns the mask of a detection, if it has one. */
    public Optional<Rle> mask(int detection) {
        return masks.isEmpty() ? Optional.empty() : Optional.of(masks.get(detection));
    }

    /** Returns the area of the box or the mask of a detection. */
    double area(int detection, IouType of) {
        return switch (of) {
            case BOX -> boxes.get(4 * detection + 2) * boxes.get(4 * detection + 3);
            case MASK -> maskAreas.get(detection);
        };
    }

    /** Returns all boxes: x, y, width and height of each. */
    ImmutableDoubleArray boxes() {
        return boxes;
    }

    /** Returns the masks, none if the detections are boxes. */
    List<Rle> masks() {
        return masks;
    }
}

package dev.saccade.eval.coco;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Detections in columns, in double precision.
 *
 * <p>The order counts: of detections with the same score the earlier one is matched first, as in
 * pycocotools.
 */
public final class CocoDetections {

    private final ImmutableLongArray imageIds;
    private final ImmutableIntArray labels;
    private final ImmutableDoubleArray boxes;
    private final ImmutableDoubleArray scores;
    private final List<Rle> masks;
    private final ImmutableIntArray maskAreas;

    private CocoDetections(Builder builder) {
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
         * @param score the larger the surer
         * @throws SaccadeException if a number is not finite
         */
        public Builder add(long imageId, int label, Annotation.Bbox box, double score) {
            if (!box.isFinite() || !Double.isFinite(score)) {
                throw SaccadeException.user(
                        "detection in image %d: expected finite numbers, got box %s with score %s",
                        imageId, box, score);
            }
            imageIds.add(imageId);
            labels.add(label);
            boxes.add(box.x()).add(box.y()).add(box.width()).add(box.height());
            scores.add(score);
            size++;
            return this;
        }

        /** Adds a mask, whose bounds are the box. */
        public Builder add(long imageId, int label, Rle mask, double score) {
            Rle.Bounds bounds = mask.bounds();
            Annotation.Bbox box =
                    new Annotation.Bbox(bounds.x(), bounds.y(), bounds.width(), bounds.height());
            return add(imageId, label, box, mask, score);
        }

        /** Adds a mask with a box of its own. */
        public Builder add(long imageId, int label, Annotation.Bbox box, Rle mask, double score) {
            add(imageId, label, box, score);
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
                Annotation.Bbox box =
                        new Annotation.Bbox(
                                x, y, predicted.boxes().x2(i) - x, predicted.boxes().y2(i) - y);
                double score = predicted.score(i);
                if (!box.isFinite() || !Double.isFinite(score)) {
                    throw SaccadeException.user(
                            "image %d: the model predicts numbers that are not finite: box %s"
                                    + " with score %s; learning has diverged: lower"
                                    + " optimizer.learning_rate, lengthen schedule.warmup or set"
                                    + " max_gradient_norm, and train anew",
                            imageId, box, score);
                }
                add(imageId, predicted.label(i), box, score);
                if (predicted.hasMasks()) {
                    masked(predicted.mask(i));
                }
            }
            return this;
        }

        private Builder masked(Rle mask) {
            masks.add(mask);
            maskAreas.add(mask.area());
            masked++;
            return this;
        }

        /** Returns what was added. */
        public CocoDetections build() {
            checkState(masked == 0 || masked == size, "%s of %s have masks", masked, size);
            return new CocoDetections(this);
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

    /** Returns where a detection is. */
    public Annotation.Bbox box(int detection) {
        int at = 4 * detection;
        return new Annotation.Bbox(
                boxes.get(at), boxes.get(at + 1), boxes.get(at + 2), boxes.get(at + 3));
    }

    /** Returns the mask of a detection, if it has one. */
    public Optional<Rle> mask(int detection) {
        return masks.isEmpty() ? Optional.empty() : Optional.of(masks.get(detection));
    }

    /** Returns whether the detections have masks; true if there are none. */
    public boolean hasMasks() {
        return masks.size() == size();
    }

    /** Returns some detections of an image as instances, whose boxes and scores are float32. */
    public Instances instances(int... ofImage) {
        float[] corners = new float[4 * ofImage.length];
        float[] confidences = new float[ofImage.length];
        int[] classes = new int[ofImage.length];
        for (int i = 0; i < ofImage.length; i++) {
            Annotation.Bbox box = box(ofImage[i]);
            corners[4 * i] = (float) box.x();
            corners[4 * i + 1] = (float) box.y();
            corners[4 * i + 2] = (float) (box.x() + box.width());
            corners[4 * i + 3] = (float) (box.y() + box.height());
            confidences[i] = (float) score(ofImage[i]);
            classes[i] = label(ofImage[i]);
        }
        Instances boxed = Instances.predicted(Boxes.of(corners), classes, confidences);
        return masks.isEmpty()
                ? boxed
                : boxed.withMasks(Arrays.stream(ofImage).mapToObj(masks::get).toList());
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

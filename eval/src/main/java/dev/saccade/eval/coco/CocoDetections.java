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
 * Detections in double precision. On equal scores, the earlier detection is matched first, as in
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

    /** Collects detections; either all or none must have a mask. Not thread-safe. */
    public static final class Builder {

        private final ImmutableLongArray.Builder imageIds = ImmutableLongArray.builder();
        private final ImmutableIntArray.Builder labels = ImmutableIntArray.builder();
        private final ImmutableDoubleArray.Builder boxes = ImmutableDoubleArray.builder();
        private final ImmutableDoubleArray.Builder scores = ImmutableDoubleArray.builder();
        private final ImmutableList.Builder<Rle> masks = ImmutableList.builder();
        private final ImmutableIntArray.Builder maskAreas = ImmutableIntArray.builder();
        private int size;
        private int masked;

        /** Adds a box; throws if the box or score is not finite. */
        public Builder add(long imageId, int label, Annotation.Bbox box, double score) {
            if (!box.isFinite() || !Double.isFinite(score)) {
                throw SaccadeException.user(
                        "detection in image %d: got box %s with score %s, expected finite numbers",
                        imageId, box, score);
            }
            imageIds.add(imageId);
            labels.add(label);
            boxes.add(box.x()).add(box.y()).add(box.width()).add(box.height());
            scores.add(score);
            size++;
            return this;
        }

        /** Adds a mask; its bounding box becomes the box. */
        public Builder add(long imageId, int label, Rle mask, double score) {
            Rle.Bounds bounds = mask.bounds();
            Annotation.Bbox box =
                    new Annotation.Bbox(bounds.x(), bounds.y(), bounds.width(), bounds.height());
            return add(imageId, label, box, mask, score);
        }

        /** Adds a mask with a given box. */
        public Builder add(long imageId, int label, Annotation.Bbox box, Rle mask, double score) {
            add(imageId, label, box, score);
            return masked(mask);
        }

        /**
         * Adds predictions in pixels of the original image.
         *
         * @throws SaccadeException if a box or score is not finite, which means that training
         *     diverged
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
                            "image %d: the model predicts NaN or infinity (box %s with score %s)"
                                    + " because training diverged; lower"
                                    + " optimizer.learning_rate, lengthen schedule.warmup or set"
                                    + " max_gradient_norm, and train again",
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

        public CocoDetections build() {
            checkState(
                    masked == 0 || masked == size,
                    "got masks for %s of %s detections," + " expected all or none",
                    masked,
                    size);
            return new CocoDetections(this);
        }
    }

    public int size() {
        return labels.length();
    }

    public long imageId(int detection) {
        return imageIds.get(detection);
    }

    public int label(int detection) {
        return labels.get(detection);
    }

    public double score(int detection) {
        return scores.get(detection);
    }

    public Annotation.Bbox box(int detection) {
        int at = 4 * detection;
        return new Annotation.Bbox(
                boxes.get(at), boxes.get(at + 1), boxes.get(at + 2), boxes.get(at + 3));
    }

    public Optional<Rle> mask(int detection) {
        return masks.isEmpty() ? Optional.empty() : Optional.of(masks.get(detection));
    }

    /** Returns whether the detections have masks; true without detections. */
    public boolean hasMasks() {
        return masks.size() == size();
    }

    /** Returns the detections at these indices as instances with float32 boxes and scores. */
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

    /** Returns the area of the box or mask of a detection. */
    double area(int detection, IouType of) {
        return switch (of) {
            case BOX -> boxes.get(4 * detection + 2) * boxes.get(4 * detection + 3);
            case MASK -> maskAreas.get(detection);
        };
    }

    /** Returns x, y, width and height of all boxes. */
    ImmutableDoubleArray boxes() {
        return boxes;
    }

    /** Returns the masks; empty if the detections are boxes. */
    List<Rle> masks() {
        return masks;
    }
}

package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.parts.Neck;
import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.models.segmentation.SlidingWindow;

import java.util.List;
import java.util.Optional;

/**
 * The parts of a model, as the {@code model} section of a config names them. The head decides
 * whether it is a {@link DetectionModel} or a {@link SegmentationModel}.
 *
 * @param backbone images to features
 * @param neck features to features; none where the head takes those of the backbone
 * @param head features to objects, or to the class of every pixel
 * @param auxiliaryHead of a segmenter: a second head that teaches the backbone in training
 * @param slidingWindow of a segmenter: the windows in which it sees an image; whole by default
 */
public record ModelConfig(
        Backbone.Config backbone,
        Optional<Neck.Config> neck,
        HeadConfig head,
        Optional<HeadConfig> auxiliaryHead,
        Optional<SlidingWindow> slidingWindow) {

    /** Checks that the parts make one model. */
    public ModelConfig {
        auxiliaryHead.ifPresent(
                other ->
                        checkArgument(
                                other instanceof SegmentationHead.Config,
                                "auxiliary_head: %s labels no pixels; expected one such as fcn",
                                other.type()));
        if (head instanceof DetectionHead.Config) {
            checkArgument(auxiliaryHead.isEmpty(), "auxiliary_head: a detector has none");
            checkArgument(slidingWindow.isEmpty(), "sliding_window: a detector has none");
        }
    }

    /** Returns the parts of a detector. */
    public static ModelConfig detector(
            Backbone.Config backbone, Neck.Config neck, DetectionHead.Config head) {
        return new ModelConfig(
                backbone, Optional.of(neck), head, Optional.empty(), Optional.empty());
    }

    /** Returns a model without weights for classes of given names. */
    public Model<?> build(List<String> classes) {
        return head instanceof DetectionHead.Config
                ? new DetectionModel(this, classes)
                : new SegmentationModel(this, classes);
    }
}

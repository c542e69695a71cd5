package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.Neck;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.InputLayers;
import dev.saccade.models.segmentation.SlidingWindow;

import java.util.List;
import java.util.Optional;

/**
 * The {@code model} section of a config. The head determines whether the model is a {@link
 * DetectionModel}, a {@link SegmentationModel} or a {@link ClassificationModel}.
 *
 * @param auxiliaryHead segmentation only: second head used only in training
 * @param slidingWindow segmentation only: sliding windows for inference; by default the whole image
 */
public record ModelConfig(
        Backbone.Config backbone,
        Optional<Neck.Config> neck,
        HeadConfig head,
        Optional<HeadConfig> auxiliaryHead,
        Optional<SlidingWindow> slidingWindow) {

    public ModelConfig {
        auxiliaryHead.ifPresent(
                other ->
                        checkArgument(
                                other instanceof SegmentationHead.Config,
                                "auxiliary_head: got %s, expected a segmentation head such as fcn",
                                other.type()));
        if (!(head instanceof SegmentationHead.Config)) {
            checkArgument(
                    auxiliaryHead.isEmpty(),
                    "auxiliary_head: only segmenters support it; remove it");
            checkArgument(
                    slidingWindow.isEmpty(),
                    "sliding_window: only segmenters support it; remove it");
        }
    }

    /** Returns the config of a detector. */
    public static ModelConfig detector(
            Backbone.Config backbone, Neck.Config neck, DetectionHead.Config head) {
        return new ModelConfig(
                backbone, Optional.of(neck), head, Optional.empty(), Optional.empty());
    }

    /** Creates a model of RGB images without weights. */
    public Model<?> build(List<String> classes) {
        return build(classes, InputLayers.RGB);
    }

    /** Creates a model of images with any number of channels, without weights. */
    public Model<?> build(List<String> classes, int inChannels) {
        return switch (head.targets()) {
            case BOXES, MASKS, MASKS_AND_LABEL_MAPS ->
                    new DetectionModel(this, classes, inChannels);
            case LABEL_MAPS -> new SegmentationModel(this, classes, inChannels);
            case CLASSES -> new ClassificationModel(this, classes, inChannels);
        };
    }
}

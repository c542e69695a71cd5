package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.List;

/** The convolutions of a backbone that read images: those with three input channels. */
public final class InputLayers {

    /** Input channels of a backbone when it is created. */
    public static final int RGB = 3;

    private InputLayers() {}

    /**
     * Changes the input channels of a backbone, before it is initialized.
     *
     * @throws IllegalArgumentException if the backbone has no convolution of RGB images
     */
    public static void setChannels(Module backbone, int channels) {
        if (channels == RGB) {
            return;
        }
        List<Conv2d> convs =
                backbone.namedModules().values().stream()
                        .filter(Conv2d.class::isInstance)
                        .map(Conv2d.class::cast)
                        .filter(Conv2d::isRgb)
                        .toList();
        checkArgument(
                !convs.isEmpty(),
                "has no convolution with %s input channels, so it does not support data.channels:"
                        + " %s",
                RGB,
                channels);
        convs.forEach(conv -> conv.setInChannels(channels));
    }
}

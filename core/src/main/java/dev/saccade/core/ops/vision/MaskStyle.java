package dev.saccade.core.ops.vision;

/** How masks are cropped for training and pasted into images. */
public enum MaskStyle {
    /** Crops are aligned and binary; masks are pasted at fractions of pixels. */
    MMDETECTION,
    /**
     * Crops are soft and not aligned, that is, half a pixel to the bottom right; masks are resized
     * to boxes of whole pixels.
     */
    TORCHVISION
}

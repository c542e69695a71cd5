package dev.saccade.train.optimizers;

/**
 * Loss scale for float16 gradients, like PyTorch's {@code GradScaler}. If a gradient overflows, the
 * step is skipped and the scale falls; the scale rises after many steps without overflow. Gradients
 * are unscaled before clipping.
 *
 * @param growthTracker steps without overflow since the last change
 */
public record GradScaler(double scale, int growthTracker) {

    public static final GradScaler START = new GradScaler(65536, 0);

    private static final double GROWTH_FACTOR = 2;
    private static final double BACKOFF_FACTOR = 0.5;
    private static final int GROWTH_INTERVAL = 2000;

    public GradScaler update(boolean foundInf) {
        if (foundInf) {
            return new GradScaler(scale * BACKOFF_FACTOR, 0);
        }
        if (growthTracker + 1 < GROWTH_INTERVAL) {
            return new GradScaler(scale, growthTracker + 1);
        }
        // As in PyTorch, the scale must remain finite in float32.
        double grown = scale * GROWTH_FACTOR;
        return new GradScaler(grown > Float.MAX_VALUE ? scale : grown, 0);
    }

    /** Returns whether unscaled gradients overflow, which scaling cannot fix. */
    public boolean isExhausted() {
        return scale < 1;
    }
}

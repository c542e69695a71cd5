package dev.saccade.train.optimizers;

/**
 * What the loss is multiplied by so that gradients in float16 do not vanish, as PyTorch's class of
 * the same name has it: it falls when a gradient overflows, whose step is left out, and rises after
 * many steps without. Gradients are divided by it before they are clipped.
 *
 * @param scale a power of 2
 * @param growthTracker steps without an overflow since it last changed
 */
public record GradScaler(double scale, int growthTracker) {

    /** The state in which a run begins. */
    public static final GradScaler START = new GradScaler(65536, 0);

    private static final double GROWTH_FACTOR = 2;
    private static final double BACKOFF_FACTOR = 0.5;
    private static final int GROWTH_INTERVAL = 2000;

    /** Returns the state after a step. */
    public GradScaler update(boolean foundInf) {
        if (foundInf) {
            return new GradScaler(scale * BACKOFF_FACTOR, 0);
        }
        if (growthTracker + 1 < GROWTH_INTERVAL) {
            return new GradScaler(scale, growthTracker + 1);
        }
        // As there, a scale that would no longer be a float stays.
        double grown = scale * GROWTH_FACTOR;
        return new GradScaler(grown > Float.MAX_VALUE ? scale : grown, 0);
    }

    /** Returns whether gradients overflow that are not even scaled: what is wrong is another. */
    public boolean isExhausted() {
        return scale < 1;
    }
}

package dev.saccade.demo;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.OpenCv;

import java.util.SplittableRandom;

/**
 * Renders photographs-like scenes of buttons, coins, keys and leaves on a table.
 *
 * <p>Scene {@code i} is a function of the seed, the size and {@code i} alone. Thread-safe.
 */
public final class SceneRenderer {

    static {
        OpenCv.load();
    }

    private final long seed;
    private final Size size;

    /**
     * Makes the renderer of a series of scenes.
     *
     * @throws IllegalArgumentException if a side is shorter than 64 pixels
     */
    public SceneRenderer(long seed, Size size) {
        checkArgument(
                Math.min(size.height(), size.width()) >= 64,
                "scenes of at least 64x64 pixels expected, got %s",
                size);
        this.seed = seed;
        this.size = size;
    }

    /** Returns the size of the scenes. */
    public Size size() {
        return size;
    }

    /** Renders a scene. */
    Scene render(int index) {
        SplittableRandom random = SeededRandom.of(seed, index);
        double squash = Range.draw(random, 0.8, 1);
        Layout layout = new Layout(size, squash);
        int things = things(random);
        for (int i = 0; i < things; i++) {
            layout.add(random);
        }
        Light light = new Light(random);
        Canvas canvas = new Canvas(size, new Background(random), light, squash);
        layout.cutouts().forEach(cutout -> canvas.lay(cutout, light));
        byte[] bgr = new Camera(random).develop(canvas.rgb(), size);
        return new Scene(size, bgr, layout.objects());
    }

    /** One table in twenty is empty, one in eight is crowded. */
    private static int things(SplittableRandom random) {
        double kind = random.nextDouble();
        if (kind < 0.05) {
            return 0;
        }
        return kind < 0.175 ? 7 + random.nextInt(2) : 1 + random.nextInt(5);
    }
}

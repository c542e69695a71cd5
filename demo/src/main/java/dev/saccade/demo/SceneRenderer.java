package dev.saccade.demo;

import static com.google.common.base.Preconditions.checkArgument;

import static dev.saccade.demo.Shapes.between;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.OpenCv;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Renders photo-like scenes of buttons, coins, keys and leaves. A scene depends only on the seed,
 * the size and its index. Thread-safe.
 */
public final class SceneRenderer {

    static {
        OpenCv.load();
    }

    private static final double MIN_INITIAL_VISIBILITY = 0.7;
    private static final double MIN_FINAL_VISIBILITY = 0.6;
    private static final int ATTEMPTS = 30;

    private final long seed;
    private final Size size;

    /** Creates a renderer for scenes of at least 64 x 64 pixels. */
    public SceneRenderer(long seed, Size size) {
        checkArgument(
                Math.min(size.height(), size.width()) >= 64,
                "size: got %s, expected at least 64x64 pixels",
                size);
        this.seed = seed;
        this.size = size;
    }

    public Size size() {
        return size;
    }

    /** Renders a scene into {@code [H, W, 3]} BGR and returns its objects, lowest first. */
    List<SceneObject> render(int index, byte[] bgr) {
        SplittableRandom random = SeededRandom.of(seed, index);
        double squash = between(random, 0.8, 1);
        List<Cutout> cutouts = new ArrayList<>();
        int objects = countObjects(random);
        for (int i = 0; i < objects; i++) {
            place(random, squash, cutouts);
        }
        Light light = Light.sample(random);
        SceneCanvas canvas = new SceneCanvas(size, Table.sample(random), light, squash);
        cutouts.forEach(canvas::add);
        canvas.develop(random, bgr);
        return cutouts.stream().map(cutout -> cutout.object).toList();
    }

    /** Returns the number of objects: none in 5 % of the scenes, 7 or 8 in 12.5 %, else 1 to 5. */
    private static int countObjects(SplittableRandom random) {
        double kind = random.nextDouble();
        if (kind < 0.05) {
            return 0;
        }
        return kind < 0.175 ? 7 + random.nextInt(2) : 1 + random.nextInt(5);
    }

    /** Adds an object if one of 30 random places leaves this object and those below visible. */
    private void place(SplittableRandom random, double squash, List<Cutout> cutouts) {
        int label = random.nextInt(ObjectTemplate.CLASSES.size());
        ObjectTemplate template = ObjectTemplate.sample(label, random);
        double radius = between(random, template.minRadius(), template.maxRadius());
        radius *= Math.min(size.height(), size.width());
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Cutout cutout = new Cutout(label, template, radius, squash, size, random);
            Rle covered = cutout.object.mask();
            if (covered.area() >= MIN_INITIAL_VISIBILITY * cutout.area()
                    && cutouts.stream().allMatch(below -> isVisible(below, covered))) {
                cutouts.forEach(below -> below.object = below.object.minus(covered));
                cutouts.add(cutout);
                return;
            }
        }
    }

    private static boolean isVisible(Cutout cutout, Rle covered) {
        long area = cutout.object.minus(covered).mask().area();
        return area >= MIN_FINAL_VISIBILITY * cutout.area();
    }
}

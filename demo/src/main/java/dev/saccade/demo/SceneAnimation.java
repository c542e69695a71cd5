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
 * A scene whose objects move across the table, hide each other, leave the image and return. Frames
 * depend only on the arguments of the constructor. Half of the objects move on straight lines, the
 * others on curves.
 */
public final class SceneAnimation {

    static {
        OpenCv.load();
    }

    private static final double SQUASH = 0.9;

    private final Size size;
    private final long seed;
    private final List<Mover> movers = new ArrayList<>();

    /**
     * An object in a frame.
     *
     * @param id index of the object in the animation
     * @param label index in {@link #classes}
     * @param mask visible pixels; empty if other objects hide the object
     * @param visibility visible fraction of the object, including pixels outside the image
     */
    public record AnimatedObject(int id, int label, Rle mask, double visibility) {}

    /** An object with its path; lines continue at the opposite edge after a pause. */
    private record Mover(
            int label,
            ObjectTemplate template,
            double radius,
            double angle,
            double turn,
            boolean isStraight,
            double startX,
            double startY,
            double speedX,
            double speedY,
            double swing) {

        double x(int frame, Size size) {
            return at(startX, speedX, 0, frame, size.width());
        }

        double y(int frame, Size size) {
            return at(startY, speedY, Math.PI / 2, frame, size.height());
        }

        private double at(double start, double speed, double phase, int frame, double edge) {
            if (isStraight) {
                double margin = 2 * radius;
                double length = edge + 2 * margin;
                double way = start + margin + speed * frame;
                return way - length * Math.floor(way / length) - margin;
            }
            double reach = swing * edge;
            return start + reach * Math.sin(frame * speed / reach + phase + angle);
        }
    }

    /**
     * Creates an animation.
     *
     * @param speed highest speed in pixels per frame
     * @param scale size of objects relative to {@link SceneRenderer}
     */
    public SceneAnimation(long seed, Size size, int objects, double speed, double scale) {
        checkArgument(speed >= 0, "speed: got %s, expected at least 0", speed);
        this.seed = seed;
        this.size = size;
        for (int i = 0; i < objects; i++) {
            SplittableRandom random = SeededRandom.of(seed, i);
            int label = random.nextInt(ObjectTemplate.CLASSES.size());
            ObjectTemplate template = ObjectTemplate.sample(label, random);
            double radius = between(random, template.minRadius(), template.maxRadius());
            movers.add(
                    new Mover(
                            label,
                            template,
                            scale * radius * Math.min(size.height(), size.width()),
                            between(random, 0, 2 * Math.PI),
                            between(random, -0.02, 0.02),
                            i % 2 == 0,
                            between(random, 0, size.width()),
                            between(random, 0, size.height()),
                            between(random, -speed, speed),
                            between(random, -speed, speed),
                            between(random, 0.15, 0.4)));
        }
    }

    public static List<String> classes() {
        return ObjectTemplate.CLASSES;
    }

    /** Returns the objects in a frame, lowest first; objects outside the image are omitted. */
    public List<AnimatedObject> objects(int frame) {
        return inImage(cutouts(frame));
    }

    /** Renders a frame into {@code [H, W, 3]} BGR and returns its objects. */
    public List<AnimatedObject> render(int frame, byte[] bgr) {
        List<Cutout> cutouts = cutouts(frame);
        SplittableRandom random = SeededRandom.of(seed, -1);
        Light light = Light.sample(random);
        SceneCanvas canvas = new SceneCanvas(size, Table.sample(random), light, SQUASH);
        cutouts.forEach(canvas::add);
        canvas.develop(random, bgr);
        return inImage(cutouts);
    }

    private List<Cutout> cutouts(int frame) {
        return movers.stream()
                .map(
                        mover ->
                                new Cutout(
                                        mover.label,
                                        mover.template,
                                        mover.radius,
                                        SQUASH,
                                        size,
                                        mover.x(frame, size),
                                        mover.y(frame, size),
                                        mover.angle + mover.turn * frame))
                .toList();
    }

    private static List<AnimatedObject> inImage(List<Cutout> cutouts) {
        List<AnimatedObject> objects = new ArrayList<>();
        for (int id = 0; id < cutouts.size(); id++) {
            Cutout cutout = cutouts.get(id);
            Rle mask = cutout.object.mask();
            for (Cutout above : cutouts.subList(id + 1, cutouts.size())) {
                mask = mask.minus(above.object.mask());
            }
            if (cutout.object.mask().area() > 0) {
                double visibility = (double) mask.area() / cutout.area();
                objects.add(new AnimatedObject(id, cutout.object.label(), mask, visibility));
            }
        }
        return objects;
    }
}

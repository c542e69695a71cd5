package dev.saccade.datasets.transforms;

import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.Ints;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.photo.Photo;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Moves, scales and rotates objects slightly within their image, and inpaints the background
 * (InstaBoost, Fang et al. 2019; mmdetection's {@code InstaBoost}, without heat maps and flips,
 * which are off by default).
 *
 * <p>Equals {@code instaboostfast} 0.1.2 given the same random numbers. Objects with overlapping
 * boxes move together. Objects within 10 pixels of an edge of the image do not shrink, rotate, or
 * move away from it. Masks are converted to polygons through the middles of their pixel edges and
 * back, which fills holes and moves outlines by half a pixel; boxes become the tightest around
 * masks. Objects without pixels are removed. Label maps and ignored regions do not change.
 *
 * @param augRatio probability of moving the objects of an image
 * @param scale range of the scale
 * @param dx the maximum horizontal move is the width of a group of objects divided by this
 * @param dy the maximum vertical move is the height of a group of objects divided by this
 * @param theta range of the angle in whole degrees
 * @param colorProb probability of changing the colors of an image whose objects move
 */
@Component("instaboost")
public record InstaBoost(
        @Default("0.5") double augRatio,
        @Default("[0.8, 1.2]") List<Double> scale,
        @Default("15") int dx,
        @Default("15") int dy,
        @Default("[-1, 1]") List<Integer> theta,
        @Default("0.5") double colorProb)
        implements Transform {

    private static final int NEAR_EDGE = 10;
    private static final double INPAINT_RADIUS = 5;

    public InstaBoost {
        scale = List.copyOf(scale);
        theta = List.copyOf(theta);
        new Checks()
                .inRange("aug_ratio", augRatio, 0, 1)
                .range("scale", scale, 0.1, 10)
                .inRange("dx", dx, 1, 100_000)
                .inRange("dy", dy, 1, 100_000)
                .range("theta", theta, -180, 180)
                .inRange("color_prob", colorProb, 0, 1)
                .throwIfAny();
    }

    record Move(double scale, int dx, int dy, int degrees) {}

    /** Objects with overlapping boxes, and the box around them in whole pixels. */
    record Group(List<Integer> members, int x1, int y1, int x2, int y2) {

        Size size() {
            return new Size(y2 - y1, x2 - x1);
        }

        /** Returns the warp of this group; groups near an image edge never move away from it. */
        SplineWarp warp(Move move, Size image) {
            boolean left = x1 < NEAR_EDGE;
            boolean right = x2 > image.width() - NEAR_EDGE;
            boolean up = y1 < NEAR_EDGE;
            boolean down = y2 > image.height() - NEAR_EDGE;
            boolean isInside = !(left || right || up || down);
            int x = left ? Math.min(move.dx, 0) : move.dx;
            int y = up ? Math.min(move.dy, 0) : move.dy;
            return new SplineWarp(
                    size(),
                    image,
                    isInside ? move.scale : Math.max(move.scale, 1),
                    isInside ? Math.toRadians(move.degrees) : 0,
                    (right ? Math.max(x, 0) : x) + (x1 + x2) / 2.0,
                    (down ? Math.max(y, 0) : y) + (y1 + y2) / 2.0);
        }
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return targets.hasMasks()
                ? Optional.empty()
                : Optional.of("instaboost: requires masks; train a model with masks, or remove it");
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return Transform.requireRgb8(type(), pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        if (random.nextDouble() >= augRatio) {
            return sample;
        }
        List<Group> groups = groups(sample.targets().boxes(), sample.info().size());
        List<Move> moves = groups.stream().map(group -> move(group.size(), random)).toList();
        Optional<InstaBoostColors> colors =
                random.nextDouble() < colorProb
                        ? Optional.of(InstaBoostColors.sample(random))
                        : Optional.empty();
        return apply(sample, groups, moves, colors);
    }

    private Move move(Size group, SplittableRandom random) {
        return new Move(
                scale.get(0) + (scale.get(1) - scale.get(0)) * random.nextDouble(),
                sampleOffset(group.width() / dx, random),
                sampleOffset(group.height() / dy, random),
                random.nextInt(theta.get(0), theta.get(1) + 1));
    }

    private static int sampleOffset(int most, SplittableRandom random) {
        return random.nextInt(-most, most + 1);
    }

    static List<Group> groups(Boxes boxes, Size image) {
        List<Group> groups = new ArrayList<>();
        BitSet grouped = new BitSet();
        for (int i = 0; i < boxes.size(); i++) {
            if (!grouped.get(i)) {
                List<Integer> members = new ArrayList<>();
                collect(boxes, i, grouped, members);
                groups.add(around(members, boxes, image));
            }
        }
        return groups;
    }

    /** Adds an object and, depth first, all objects that it overlaps. */
    private static void collect(Boxes boxes, int object, BitSet grouped, List<Integer> members) {
        grouped.set(object);
        members.add(object);
        for (int j = 0; j < boxes.size(); j++) {
            if (!grouped.get(j)
                    && boxes.x1(object) < boxes.x2(j)
                    && boxes.y1(object) < boxes.y2(j)
                    && boxes.x1(j) < boxes.x2(object)
                    && boxes.y1(j) < boxes.y2(object)) {
                collect(boxes, j, grouped, members);
            }
        }
    }

    private static Group around(List<Integer> members, Boxes boxes, Size image) {
        Boxes inside = boxes.select(Ints.toArray(members)).clip(image);
        float x1 = inside.x1(0);
        float y1 = inside.y1(0);
        float x2 = inside.x2(0);
        float y2 = inside.y2(0);
        for (int i = 1; i < inside.size(); i++) {
            x1 = Math.min(x1, inside.x1(i));
            y1 = Math.min(y1, inside.y1(i));
            x2 = Math.max(x2, inside.x2(i));
            y2 = Math.max(y2, inside.y2(i));
        }
        return new Group(members, rounded(x1), rounded(y1), rounded(x2), rounded(y2));
    }

    private static int rounded(float edge) {
        return (int) Math.rint(edge);
    }

    static Sample apply(
            Sample sample,
            List<Group> groups,
            List<Move> moves,
            Optional<InstaBoostColors> colors) {
        Size size = sample.info().size();
        Instances objects = sample.targets();
        Mat image = new Mat();
        sample.image().convertTo(image, CvType.CV_8UC3);
        int[] owners = owners(objects, size);
        byte[] pixels = inpainted(image, owners);
        List<Rle> masks = new ArrayList<>();
        List<Integer> kept = new ArrayList<>();
        for (int g = 0; g < groups.size(); g++) {
            Group group = groups.get(g);
            if (group.size().area() == 0) {
                continue;
            }
            SplineWarp warp = group.warp(moves.get(g), size);
            warp.blend(pixels, colors(image, group), alpha(owners, group, size));
            for (int member : group.members()) {
                Rle part = objects.mask(member).crop(group.y1(), group.x1(), group.size());
                Rle moved = outlined(Rle.encode(size, warp.mask(part.decode())));
                if (moved.area() > 0) {
                    kept.add(member);
                    masks.add(moved);
                }
            }
        }
        colors.ifPresent(jitter -> jitter.apply(pixels, size));
        image.put(0, 0, pixels);
        Instances moved = objects.select(Ints.toArray(kept));
        return sample.with(
                image,
                sample.info(),
                objects.size() == 0 ? objects : moved.withMasks(masks).boxesFromMasks());
    }

    /** Returns the 1-based index of the last object at each pixel; 0 for none. */
    private static int[] owners(Instances objects, Size size) {
        int[] owners = new int[Math.toIntExact(size.area())];
        for (int i = 0; i < objects.size(); i++) {
            int number = i + 1;
            objects.mask(i)
                    .forEachColumnRun(
                            (x, top, bottom) -> {
                                for (int y = top; y < bottom; y++) {
                                    owners[y * size.width() + x] = number;
                                }
                            });
        }
        return owners;
    }

    private static byte[] inpainted(Mat image, int[] owners) {
        byte[] holes = new byte[owners.length];
        for (int i = 0; i < owners.length; i++) {
            holes[i] = (byte) (owners[i] > 0 ? 1 : 0);
        }
        Mat mask = new Mat(image.rows(), image.cols(), CvType.CV_8UC1);
        mask.put(0, 0, holes);
        Mat background = new Mat();
        Photo.inpaint(image, mask, background, INPAINT_RADIUS, Photo.INPAINT_NS);
        byte[] pixels = new byte[3 * owners.length];
        background.get(0, 0, pixels);
        mask.release();
        background.release();
        return pixels;
    }

    private static byte[] colors(Mat image, Group group) {
        byte[] colors = new byte[Math.toIntExact(3 * group.size().area())];
        Mat part = image.submat(group.y1(), group.y2(), group.x1(), group.x2());
        part.get(0, 0, colors);
        part.release();
        return colors;
    }

    /** Returns the bitmap of a group's objects in its box. */
    private static byte[] alpha(int[] owners, Group group, Size size) {
        BitSet numbers = new BitSet();
        group.members().forEach(member -> numbers.set(member + 1));
        int width = group.size().width();
        byte[] alpha = new byte[width * group.size().height()];
        for (int i = 0; i < alpha.length; i++) {
            int at = (group.y1() + i / width) * size.width() + group.x1() + i % width;
            alpha[i] = (byte) (numbers.get(owners[at]) ? 1 : 0);
        }
        return alpha;
    }

    /** Returns a mask redrawn through the middles of the pixel edges along its border. */
    private static Rle outlined(Rle mask) {
        List<double[]> polygons = Contours.trace(mask).stream().map(InstaBoost::middles).toList();
        return polygons.isEmpty() ? mask : Rle.fromPolygons(mask.size(), polygons);
    }

    /** Returns the middle of each pixel edge along a contour; pixel centers are integers. */
    private static double[] middles(ImmutableIntArray corners) {
        ImmutableDoubleArray.Builder points = ImmutableDoubleArray.builder();
        for (int i = 0; i < corners.length(); i += 2) {
            int next = (i + 2) % corners.length();
            int stepX = Integer.signum(corners.get(next) - corners.get(i));
            int stepY = Integer.signum(corners.get(next + 1) - corners.get(i + 1));
            int x = corners.get(i);
            int y = corners.get(i + 1);
            while (x != corners.get(next) || y != corners.get(next + 1)) {
                points.add(Math.max(0, x + stepX / 2.0 - 0.5));
                points.add(Math.max(0, y + stepY / 2.0 - 0.5));
                x += stepX;
                y += stepY;
            }
        }
        return points.build().toArray();
    }
}

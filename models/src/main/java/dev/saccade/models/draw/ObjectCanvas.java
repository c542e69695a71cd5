package dev.saccade.models.draw;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Draws boxes, masks and names in the colors of their classes. */
public final class ObjectCanvas {

    private static final double LINE_PER_LETTER = 0.15;
    private static final double MASK_OPACITY = 0.45;
    private static final double OUTLINE_OPACITY = 0.8;

    /** Minimum longer edge of a drawn sample; smaller samples are enlarged so that names fit. */
    private static final int MIN_EDGE = 320;

    /** Width of mask outlines relative to the image diagonal. */
    private static final double OUTLINE = 0.002;

    private static final int CHANNELS = 3;
    private static final Scalar WHITE = new Scalar(255, 255, 255);

    private final Mat image;

    /** Palette index of each object. */
    private final List<Integer> colors;

    private final int line;
    private final TextStyle style;

    private ObjectCanvas(Mat image, Instances instances, List<Integer> colors) {
        checkArgument(
                image.type() == CvType.CV_8UC3,
                "image: got %s, expected CV_8UC3",
                CvType.typeToString(image.type()));
        this.image = image;
        this.colors = colors;
        this.style = TextStyle.of(new Size(image.rows(), image.cols()), instances.boxes());
        this.line = (int) Math.max(1, Math.rint(style.size("M").height * LINE_PER_LETTER));
    }

    /**
     * Draws objects on an image, [H, W, 3] BGR uint8, in place; the first object is on top.
     *
     * @param labels whether to draw names and scores
     */
    public static void draw(Mat image, Instances instances, List<String> classes, boolean labels) {
        int size = instances.size();
        List<Integer> colors = IntStream.range(0, size).mapToObj(instances::label).toList();
        draw(image, instances, colors, labels ? texts(instances, classes) : List.of());
    }

    /**
     * Draws tracked objects like {@link #draw}, in the colors of their identities.
     *
     * @param ids identity of each object, written next to its name
     */
    public static void drawTracks(
            Mat image,
            Instances instances,
            List<Integer> ids,
            List<String> classes,
            boolean labels) {
        List<String> texts =
                IntStream.range(0, instances.size())
                        .mapToObj(i -> classes.get(instances.label(i)) + " #" + ids.get(i))
                        .toList();
        draw(image, instances, ids, labels ? texts : List.of());
    }

    private static void draw(
            Mat image, Instances instances, List<Integer> colors, List<String> texts) {
        ObjectCanvas canvas = new ObjectCanvas(image, instances, colors);
        canvas.objects(instances);
        if (!texts.isEmpty()) {
            canvas.labels(instances, texts);
        }
    }

    private void objects(Instances instances) {
        List<Integer> order =
                IntStream.range(0, instances.size())
                        .boxed()
                        .sorted(Comparator.reverseOrder())
                        .toList();
        masks(instances, order);
        order.forEach(i -> box(instances.boxes(), i, color(i)));
    }

    /**
     * Draws a transformed sample with its boxes and masks, or its label map; the caller releases
     * the result. If the longer edge is below 320 pixels, the image is first enlarged by an integer
     * factor.
     */
    public static Mat picture(Sample sample, List<String> classes) {
        Mat picture = new Mat();
        sample.image().convertTo(picture, CvType.CV_8UC3);
        int times = enlargement(sample.info().size());
        Size enlarged = new Size(times * picture.rows(), times * picture.cols());
        Imgproc.resize(
                picture,
                picture,
                new org.opencv.core.Size(enlarged.width(), enlarged.height()),
                0,
                0,
                Imgproc.INTER_NEAREST);
        // Masks and label maps may include padding; the image does not.
        Size size = sample.info().size();
        if (sample.labels().isPresent()) {
            LabelMap labels = sample.labels().get().crop(0, 0, size).resize(enlarged);
            Mat labeled = LabelCanvas.draw(picture, labels, classes, true);
            picture.release();
            return labeled;
        }
        Instances objects =
                sample.targets()
                        .mapBoxes(boxes -> boxes.scale(times, times))
                        .mapMasks(mask -> mask.crop(0, 0, size).resize(enlarged));
        draw(picture, objects, classes, true);
        return picture;
    }

    private static int enlargement(Size size) {
        int edge = Math.max(size.height(), size.width());
        return (MIN_EDGE + edge - 1) / edge;
    }

    private void masks(Instances instances, List<Integer> order) {
        if (!instances.hasMasks()) {
            return;
        }
        byte[] pixels = new byte[Math.toIntExact(image.total()) * CHANNELS];
        image.get(0, 0, pixels);
        for (int i : order) {
            Scalar color = color(i);
            Rle mask = instances.mask(i);
            tint(pixels, mask, color, MASK_OPACITY);
            tint(pixels, mask.boundary(OUTLINE), color, OUTLINE_OPACITY);
        }
        image.put(0, 0, pixels);
    }

    private void tint(byte[] pixels, Rle mask, Scalar color, double opacity) {
        mask.forEachColumnRun(
                (x, top, bottom) -> {
                    for (int y = top; y < bottom; y++) {
                        for (int channel = 0; channel < CHANNELS; channel++) {
                            int at = (y * image.cols() + x) * CHANNELS + channel;
                            double old = Byte.toUnsignedInt(pixels[at]);
                            pixels[at] =
                                    (byte) Math.rint(old + opacity * (color.val[channel] - old));
                        }
                    }
                });
    }

    private void box(Boxes boxes, int i, Scalar color) {
        Point from = new Point(Math.rint(boxes.x1(i)), Math.rint(boxes.y1(i)));
        Point to = new Point(Math.rint(boxes.x2(i)) - 1, Math.rint(boxes.y2(i)) - 1);
        Imgproc.rectangle(image, from, to, color, line, Imgproc.LINE_AA);
    }

    /**
     * Draws names; the name of the first object is placed first and drawn on top. Names that would
     * hide others are omitted.
     */
    private void labels(Instances instances, List<String> texts) {
        LabelLayout layout =
                new LabelLayout(new Size(image.rows(), image.cols()), instances.boxes());
        double margin = Math.max(2, Math.rint(style.size("M").height * 0.3));
        List<Optional<LabelLayout.Place>> places = new ArrayList<>();
        for (int i = 0; i < instances.size(); i++) {
            org.opencv.core.Size size = style.size(texts.get(i));
            places.add(
                    layout.place(
                            instances.boxes(),
                            i,
                            size.width + 2 * margin,
                            size.height + 2 * margin));
        }
        for (int i = instances.size() - 1; i >= 0; i--) {
            String text = texts.get(i);
            Scalar color = color(i);
            places.get(i).ifPresent(place -> label(place, margin, text, color));
        }
    }

    private void label(LabelLayout.Place place, double margin, String text, Scalar color) {
        double left = Math.rint(place.left());
        double bottom = Math.rint(place.top() + place.height());
        Imgproc.rectangle(
                image,
                new Point(left, bottom - place.height()),
                new Point(left + place.width() - 1, bottom - 1),
                color,
                Imgproc.FILLED);
        style.write(
                image,
                text,
                new Point(left + margin, bottom - margin),
                isLight(color) ? TextStyle.BLACK : WHITE);
    }

    private static List<String> texts(Instances instances, List<String> classes) {
        return IntStream.range(0, instances.size())
                .mapToObj(
                        i -> {
                            String name = classes.get(instances.label(i));
                            return instances.hasScores()
                                    ? Text.format("%s %.2f", name, instances.score(i))
                                    : name;
                        })
                .toList();
    }

    private Scalar color(int object) {
        int rgb = ClassColors.rgb(colors.get(object));
        return new Scalar(rgb & 0xFF, rgb >> 8 & 0xFF, rgb >> 16);
    }

    private static boolean isLight(Scalar bgr) {
        return 0.114 * bgr.val[0] + 0.587 * bgr.val[1] + 0.299 * bgr.val[2] > 140;
    }
}

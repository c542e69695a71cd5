package dev.saccade.report.runs;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.Composite;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.eval.labelerrors.LabelError;
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.eval.labelerrors.LabelErrorsFile;
import dev.saccade.report.FactList;
import dev.saccade.report.Gallery;
import dev.saccade.report.Section;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Pictures of the most suspicious labels. */
public final class LabelErrorSection {

    /** Number of pictures in the report of a run. */
    static final int IN_REPORT = 24;

    /** Margin around the boxes, as a fraction of their longer edge. */
    private static final double MARGIN = 0.6;

    private static final int MIN_EDGE = 64;
    private static final int MAX_EDGE = 320;

    private static final String TITLE = "Suspected label errors";

    private LabelErrorSection() {}

    /** Returns a section with at most {@code count} pictures. */
    public static Section of(Dataset dataset, LabelErrors errors, int count, PixelFormat format) {
        OpenCv.load();
        List<String> names = RelativeNames.of(dataset);
        List<LabelError> shown = errors.suspects().stream().limit(count).toList();
        Gallery.Picture[] pictures = new Gallery.Picture[shown.size()];
        // Suspects of one image are drawn together, so that each image is decoded once.
        List<Integer> byImage =
                IntStream.range(0, shown.size())
                        .boxed()
                        .sorted(Comparator.comparing(i -> shown.get(i).image()))
                        .toList();
        int open = -1;
        Mat pixels = new Mat();
        for (int i : byImage) {
            LabelError error = shown.get(i);
            if (error.image() != open) {
                pixels.release();
                pixels = Composite.read(dataset.image(error.image()).file(), format);
                open = error.image();
            }
            pictures[i] = picture(dataset, error, i + 1, names.get(error.image()), pixels);
        }
        pixels.release();
        if (shown.isEmpty()) {
            String note = "a weak model finds none";
            FactList none = new FactList(List.of(new FactList.Fact("suspects", "0", note)));
            return new Section(TITLE, "", none);
        }
        String lead =
                Text.format(
                        "Labels that disagree with confident predictions, most suspicious first:"
                                + " %d of %d suspects. Check them by eye: the model is wrong in some"
                                + " cases. All suspects are in %s.",
                        shown.size(), errors.suspects().size(), LabelErrorsFile.NAME);
        return new Section(TITLE, lead, new Gallery(List.of(pictures)));
    }

    private static Gallery.Picture picture(
            Dataset dataset, LabelError error, int rank, String name, Mat pixels) {
        List<Annotation.Bbox> boxes =
                Stream.concat(
                                error.label().map(Annotation::box).stream(),
                                error.prediction().map(LabelError.Prediction::box).stream())
                        .toList();
        Rect area = area(boxes, new Size(pixels.rows(), pixels.cols()));
        List<Gallery.Mark> marks = new ArrayList<>();
        List<String> classes = dataset.classes();
        error.label()
                .ifPresent(
                        label ->
                                marks.add(
                                        mark(
                                                Gallery.Style.LABEL,
                                                classes.get(label.label()),
                                                label.box(),
                                                area)));
        error.prediction()
                .ifPresent(
                        p ->
                                marks.add(
                                        mark(
                                                Gallery.Style.PREDICTION,
                                                describe(p, classes),
                                                p.box(),
                                                area)));
        ImageFile image = dataset.image(error.image());
        return new Gallery.Picture(
                jpeg(pixels, area),
                area.width,
                area.height,
                marks,
                rank + ". " + describe(error, classes),
                List.of(
                        name + ", image id " + image.id(),
                        Text.format("suspicion %.2f", error.score())));
    }

    /** Returns text such as "wrong class: RBC, predicted WBC 0.87". */
    private static String describe(LabelError error, List<String> classes) {
        List<String> parts = new ArrayList<>();
        error.label().ifPresent(label -> parts.add(classes.get(label.label())));
        error.prediction().ifPresent(p -> parts.add("predicted " + describe(p, classes)));
        return error.kind().title() + ": " + String.join(", ", parts);
    }

    private static String describe(LabelError.Prediction prediction, List<String> classes) {
        return Text.format("%s %.2f", classes.get(prediction.label()), prediction.score());
    }

    private static Gallery.Mark mark(
            Gallery.Style style, String name, Annotation.Bbox box, Rect area) {
        double left = box.x() - area.x;
        double top = box.y() - area.y;
        return new Gallery.Mark(style, name, left, top, left + box.width(), top + box.height());
    }

    /** Returns the part of the image around boxes, inside the image. */
    private static Rect area(List<Annotation.Bbox> boxes, Size image) {
        double left = boxes.stream().mapToDouble(Annotation.Bbox::x).min().orElse(0);
        double top = boxes.stream().mapToDouble(Annotation.Bbox::y).min().orElse(0);
        double right = boxes.stream().mapToDouble(b -> b.x() + b.width()).max().orElse(0);
        double bottom = boxes.stream().mapToDouble(b -> b.y() + b.height()).max().orElse(0);
        double edge = Math.max(MIN_EDGE, (1 + 2 * MARGIN) * Math.max(right - left, bottom - top));
        int x = start((left + right - edge) / 2, image.width());
        int y = start((top + bottom - edge) / 2, image.height());
        int width = (int) Math.min(Math.ceil(edge), image.width() - x);
        int height = (int) Math.min(Math.ceil(edge), image.height() - y);
        return new Rect(x, y, Math.max(1, width), Math.max(1, height));
    }

    private static int start(double from, int length) {
        return (int) Math.max(0, Math.min(Math.floor(from), length - 1));
    }

    private static String jpeg(Mat pixels, Rect area) {
        Mat crop = pixels.submat(area).clone();
        try {
            ImageScaling.shrink(crop, MAX_EDGE);
            return ImageScaling.base64(crop);
        } finally {
            crop.release();
        }
    }
}

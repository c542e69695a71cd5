package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.google.common.base.CharMatcher;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes Ultralytics' format: {@code data.yaml}, a list of the images of each split, and a text
 * file of boxes or outlines per image. Leaves out crowds, as Ultralytics does. Ultralytics reads
 * either boxes or outlines of an image, so boxes beside outlines are written as outlines.
 */
final class YoloWriter implements LabelWriter {

    private static final String IMAGES = "/images/";

    @Override
    public void write(SourceLabels labels, OutputFolder target) throws IOException {
        requireNames(labels.images().stream().map(LabeledImage::name).toList());
        StringBuilder yaml = new StringBuilder();
        for (Split split : Split.values()) {
            List<LabeledImage> images = labels.images(split);
            if (!images.isEmpty()) {
                String file = split.key() + ".txt";
                String list =
                        images.stream()
                                .map(image -> "." + IMAGES + image.name() + "\n")
                                .collect(Collectors.joining());
                target.write(file, list.getBytes(UTF_8));
                yaml.append(split.key()).append(": ").append(file).append('\n');
            }
        }
        yaml.append("names:\n");
        for (int label = 0; label < labels.classes().size(); label++) {
            String name = labels.classes().get(label);
            String escaped = new String(JsonStringEncoder.getInstance().quoteAsString(name));
            yaml.append("  ").append(label).append(": \"").append(escaped).append("\"\n");
        }
        target.write("data.yaml", yaml.toString().getBytes(UTF_8));
        for (LabeledImage image : labels.images()) {
            target.write(file(image.name()), lines(image).getBytes(UTF_8));
        }
    }

    /** Rejects image names that Ultralytics cannot read. */
    @Override
    public void requireNames(List<String> images) {
        Problems problems = new Problems();
        Map<String, String> others = new HashMap<>();
        for (String name : images) {
            String other = others.putIfAbsent(file(name), name);
            if (other != null) {
                problems.add("%s and %s need the same YOLO label file; rename one", other, name);
            }
            if (!name.strip().equals(name) || CharMatcher.javaIsoControl().matchesAnyOf(name)) {
                problems.add("%s: YOLO's lists cannot contain this name; rename the image", name);
            }
        }
        problems.throwIfAny("images");
    }

    /** Returns the label file, as Ultralytics: replaces the last folder "images" by "labels". */
    private static String file(String image) {
        String path = IMAGES + SourceFolder.stem(image);
        int last = path.lastIndexOf(IMAGES);
        return (path.substring(0, last) + "/labels/" + path.substring(last + IMAGES.length()))
                        .substring(1)
                + ".txt";
    }

    private static String lines(LabeledImage image) {
        List<Annotation> objects = image.regularObjects();
        boolean isOutlined =
                objects.stream().anyMatch(o -> !(o.segmentation() instanceof Segmentation.None));
        StringBuilder lines = new StringBuilder();
        for (Annotation object : objects) {
            double[] numbers = isOutlined ? ring(object, image.size()) : centered(object.box());
            lines.append(object.label());
            for (int i = 0; i < numbers.length; i++) {
                int edge = i % 2 == 0 ? image.size().width() : image.size().height();
                double fraction = Math.max(0, Math.min(1, numbers[i] / edge));
                lines.append(Text.format(" %.6f", fraction));
            }
            lines.append('\n');
        }
        return lines.toString();
    }

    private static double[] centered(Annotation.Bbox box) {
        return new double[] {
            box.x() + box.width() / 2, box.y() + box.height() / 2, box.width(), box.height()
        };
    }

    /** Returns one outline; parts are connected by lines without area. */
    private static double[] ring(Annotation object, Size image) {
        if (object.segmentation() instanceof Segmentation.None) {
            Annotation.Bbox box = object.box();
            return new Outline.Box(box.x(), box.y(), box.x() + box.width(), box.y() + box.height())
                    .points();
        }
        List<double[]> rings =
                object.segmentation() instanceof Segmentation.Polygons polygons
                        ? polygons.rings()
                        : object.segmentation().mask(image).toPolygons();
        return rings.stream().reduce(Hole::join).orElseThrow();
    }
}

package dev.saccade.report.suggest;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.convert.Conversion;
import dev.saccade.datasets.convert.LabeledImage;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.TargetFormat;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Classifier;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.Gallery;
import dev.saccade.report.Report;
import dev.saccade.report.Section;
import dev.saccade.report.runs.ImageScaling;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Writes suggested images: {@code index.html}, {@code suggestions.json} and pre-annotations. */
public record SuggestionWriter(
        TrainedModel<?> model, List<Candidate> suggestions, ScoreThresholds thresholds) {

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /**
     * Writes the page and the list; {@code title} is the name of the run.
     *
     * @param candidates number of images from which the suggestions were selected
     */
    public void writePage(OutputFolder folder, String title, int candidates) {
        List<Gallery.Picture> pictures = new ArrayList<>();
        List<Map<String, Object>> entries = new ArrayList<>();
        for (int i = 0; i < suggestions.size(); i++) {
            Candidate image = suggestions.get(i);
            pictures.add(picture(image, i + 1));
            entries.add(
                    ImmutableMap.of(
                            "file", image.image().file().toString(),
                            "uncertainty", image.uncertainty(),
                            "reason", image.reason()));
        }
        String subtitle =
                Text.format(
                        "%d of %d images, most useful first: the model is uncertain about"
                                + " them, and they differ from each other.",
                        suggestions.size(), candidates);
        Section section = new Section("Images to label next", "", new Gallery(pictures));
        new Report(title, subtitle, List.of(), List.of(section))
                .write(folder.resolve("index.html"));
        try {
            folder.write("suggestions.json", JSON.writeValueAsBytes(entries));
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "suggestions cannot be written as JSON");
        }
    }

    private Gallery.Picture picture(Candidate image, int rank) {
        Optional<Instances> objects = accepted(image);
        List<String> lines = new ArrayList<>(List.of(image.reason()));
        objects.ifPresent(found -> lines.add("predicted: " + counts(found)));
        return new Gallery.Picture(
                ImageScaling.base64(image.image().file(), model.spec().pixels()),
                image.image().size().width(),
                image.image().size().height(),
                objects.map(this::marks).orElse(List.of()),
                rank + ". " + image.name(),
                lines);
    }

    private List<Gallery.Mark> marks(Instances objects) {
        Boxes boxes = objects.boxes();
        return IntStream.range(0, objects.size())
                .mapToObj(
                        i ->
                                new Gallery.Mark(
                                        Gallery.Style.PREDICTION,
                                        Text.format(
                                                "%s %.2f",
                                                model.classes().get(objects.label(i)),
                                                objects.score(i)),
                                        boxes.x1(i),
                                        boxes.y1(i),
                                        boxes.x2(i),
                                        boxes.y2(i)))
                .toList();
    }

    /** Returns the number of objects of each class, such as "12 RBC, 1 WBC". */
    private String counts(Instances objects) {
        Map<Integer, Long> counts =
                IntStream.range(0, objects.size())
                        .mapToObj(objects::label)
                        .collect(
                                Collectors.groupingBy(
                                        label -> label, TreeMap::new, Collectors.counting()));
        return counts.isEmpty()
                ? "no objects"
                : counts.entrySet().stream()
                        .map(each -> each.getValue() + " " + model.classes().get(each.getKey()))
                        .collect(Collectors.joining(", "));
    }

    /** Returns the objects that reach the thresholds, without empty masks. */
    private Optional<Instances> accepted(Candidate image) {
        return image.objects()
                .map(objects -> thresholds.select(objects, model.classes()))
                .map(
                        objects ->
                                objects.select(
                                        IntStream.range(0, objects.size())
                                                .filter(
                                                        i ->
                                                                !objects.hasMasks()
                                                                        || objects.mask(i).area()
                                                                                > 0)
                                                .toArray()));
    }

    /** Writes the images with the detections that reach the thresholds as labels. */
    public void writeObjects(OutputFolder folder, Collection<TargetFormat> formats) {
        List<LabeledImage> images =
                suggestions.stream()
                        .sorted(Comparator.comparing(Candidate::name))
                        .map(this::labeled)
                        .toList();
        Conversion.write(labels(images, /* imageClasses= */ false), formats, folder, () -> {});
    }

    /** Writes the images with their predicted classes as CVAT tags. */
    public void writeTags(OutputFolder folder, Classifier classifier) {
        List<LabeledImage> images = new ArrayList<>();
        for (Candidate image : suggestions) {
            int best = classifier.classify(image.image().file()).get(0).classIndex();
            Size size = image.image().size();
            Annotation whole = Annotation.of(0, best, 0, 0, size.width(), size.height());
            images.add(labeled(image, List.of(whole)));
        }
        images.sort(Comparator.comparing(LabeledImage::name));
        SourceLabels labels = labels(images, /* imageClasses= */ true);
        Conversion.write(labels, List.of(TargetFormat.CVAT), folder, () -> {});
    }

    private SourceLabels labels(List<LabeledImage> images, boolean imageClasses) {
        return new SourceLabels(
                model.classes(),
                LongStream.rangeClosed(1, model.classes().size()).boxed().toList(),
                images,
                Optional.empty(),
                imageClasses,
                List.of(),
                List.of());
    }

    private LabeledImage labeled(Candidate image) {
        Instances objects = accepted(image).orElseThrow();
        List<Annotation> annotations = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            Boxes boxes = objects.boxes();
            double x = boxes.x1(i);
            double y = boxes.y1(i);
            annotations.add(
                    objects.hasMasks()
                            ? Annotation.of(0, objects.label(i), objects.mask(i))
                            : Annotation.of(
                                    0, objects.label(i), x, y, boxes.x2(i) - x, boxes.y2(i) - y));
        }
        return labeled(image, annotations);
    }

    private static LabeledImage labeled(Candidate image, List<Annotation> annotations) {
        return new LabeledImage(
                image.name(),
                image.image().file(),
                false,
                Optional.empty(),
                image.image().size(),
                annotations,
                Optional.empty(),
                List.of(),
                "");
    }

    /** Writes the images and their predicted label maps: class indices from 1. */
    public void writeLabelMaps(OutputFolder folder, Segmenter segmenter) {
        for (Candidate image : suggestions) {
            folder.add("images/" + image.name(), image.image().file());
            folder.write(
                    "labels/" + image.name() + ".png",
                    segmenter.segment(ImageSource.of(image.image().file())).toPng());
        }
        String classes = String.join("\n", model.classes()) + "\n";
        folder.write("classes.txt", classes.getBytes(UTF_8));
    }

    /**
     * Writes the images into a folder per predicted class, like {@code image_folder}.
     *
     * @throws SaccadeException of kind user, if a class name cannot be the name of a folder
     */
    public void writeClasses(OutputFolder folder, Classifier classifier) {
        ClassName.requireFolderNames(classifier.classes(), "suggest");
        for (Candidate image : suggestions) {
            Path file = image.image().file();
            String best = classifier.classify(file).get(0).label();
            folder.add("classes/" + best + "/" + image.name(), file);
        }
    }
}

package dev.saccade.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.ObjectDetector;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds objects in photographs that nobody has labelled. */
@Command(
        name = "predict",
        description = "Find objects in photographs; write pictures and JSON.",
        mixinStandardHelpOptions = true,
        footer = {"", "Example:  saccade predict runs/demo photo.jpg folder/ --out found"})
final class PredictCommand implements Callable<Integer> {

    private static final List<String> ENDINGS =
            List.of(".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff");

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private ViewOptions views;
    @Mixin private JsonOption json;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PHOTO",
            description = "Images, and folders whose images are taken.")
    private List<Path> inputs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "predictions",
            description = "Where pictures and predictions.json go; ${DEFAULT-VALUE} by default.")
    private Path out;

    @Option(
            names = "--score",
            paramLabel = "S",
            defaultValue = "0.3",
            description = "Least score of what is drawn and written; ${DEFAULT-VALUE} by default.")
    private double minScore;

    /**
     * An object in a photograph.
     *
     * @param label the name of its class
     * @param score from 0 to 1
     * @param box x, y, width and height in pixels of the photograph
     * @param segmentation {@code size} and {@code counts} of its mask, COCO's compressed run
     *     lengths; empty and left out of the JSON if the detector predicts none
     */
    record Found(
            String label,
            double score,
            List<Double> box,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Object> segmentation) {

        static Found of(Instances instances, int i, List<String> classes) {
            Boxes boxes = instances.boxes();
            return new Found(
                    classes.get(instances.label(i)),
                    instances.score(i),
                    List.of(
                            (double) boxes.x1(i),
                            (double) boxes.y1(i),
                            (double) boxes.width(i),
                            (double) boxes.height(i)),
                    instances.hasMasks() ? segmentation(instances.mask(i)) : Map.of());
        }

        private static Map<String, Object> segmentation(Rle mask) {
            List<Integer> size = List.of(mask.size().height(), mask.size().width());
            return ImmutableMap.of("size", size, "counts", mask.toCompressedString());
        }
    }

    @Override
    public Integer call() {
        ConfigArguments.requireShare("--score", minScore);
        List<Path> photos = photos();
        Map<String, List<Found>> found = new LinkedHashMap<>();
        List<String> unusable = new ArrayList<>();
        try (ObjectDetector detector = (ObjectDetector) views.load(run.checkpoint());
                Progress progress = new Progress("predict", photos.size(), " photos")) {
            Pictures pictures = new Pictures(out, detector.classes());
            for (Path photo : photos) {
                try {
                    Instances all = detector.detect(photo);
                    Instances sure = aboveScore(all, minScore);
                    pictures.write(photo, sure);
                    found.put(photo.toString(), describe(sure, detector.classes()));
                } catch (SaccadeException e) {
                    if (e.kind() != SaccadeException.Kind.USER) {
                        throw e;
                    }
                    unusable.add(e.getMessage());
                }
                progress.to(found.size() + unusable.size());
            }
        }
        JsonOption.write(out.resolve("predictions.json"), found);
        report(found, unusable);
        return unusable.isEmpty() ? 0 : SaccadeException.Kind.USER.exitCode();
    }

    private List<Path> photos() {
        List<Path> photos = new ArrayList<>();
        for (Path input : inputs) {
            if (!Files.isDirectory(input)) {
                photos.add(input);
                continue;
            }
            try (Stream<Path> files = Files.list(input)) {
                files.filter(PredictCommand::isImage).sorted().forEach(photos::add);
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be listed: %s", input, e.getMessage());
            }
        }
        if (photos.isEmpty()) {
            throw SaccadeException.user(
                    "%s: no images; expected files ending in %s", inputs, ENDINGS);
        }
        return photos;
    }

    private static boolean isImage(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return ENDINGS.stream().anyMatch(name::endsWith);
    }

    static Instances aboveScore(Instances all, double minScore) {
        return all.select(
                IntStream.range(0, all.size()).filter(i -> all.score(i) >= minScore).toArray());
    }

    private static List<Found> describe(Instances instances, List<String> classes) {
        return IntStream.range(0, instances.size())
                .mapToObj(i -> Found.of(instances, i, classes))
                .toList();
    }

    private void report(Map<String, List<Found>> found, List<String> unusable) {
        if (json.wanted()) {
            json.print(spec, found);
        }
        int objects = found.values().stream().mapToInt(List::size).sum();
        spec.commandLine()
                .getErr()
                .printf(
                        "%d objects in %d photographs, written to %s%n",
                        objects, found.size(), out);
        unusable.forEach(message -> spec.commandLine().getErr().println("saccade: " + message));
    }
}

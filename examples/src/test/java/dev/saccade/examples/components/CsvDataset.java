package dev.saccade.examples.components;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DatasetCheck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Boxes from a CSV file {@code photo,class,x,y,width,height} next to the images. */
public record CsvDataset(
        List<String> classes, List<ImageFile> images, List<List<Annotation>> annotations)
        implements Dataset {

    @Component("csv")
    public record Config(String file, List<String> classes) implements Dataset.Config {

        public Config {
            classes = List.copyOf(classes);
        }

        @Override
        public CsvDataset open(Path root) {
            return read(root.resolve(file), classes);
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            return DatasetCheck.run(open(root), options);
        }

        @Override
        public List<String> knownClasses() {
            return classes;
        }
    }

    private static CsvDataset read(Path file, List<String> classes) {
        Map<String, List<Annotation>> byPhoto = new LinkedHashMap<>();
        Problems problems = new Problems();
        List<String> lines = lines(file);
        for (int i = 0; i < lines.size(); i++) {
            String[] words = lines.get(i).split(",");
            try {
                double[] box =
                        Arrays.stream(words, 2, 6).mapToDouble(Double::parseDouble).toArray();
                int label = classes.indexOf(words[1]);
                byPhoto.computeIfAbsent(words[0], photo -> new ArrayList<>())
                        .add(Annotation.of(i + 1, label, box[0], box[1], box[2], box[3]));
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
                problems.add(
                        "line %d: got \"%s\", expected photo,class,x,y,width,height",
                        i + 1, lines.get(i));
            }
        }
        problems.throwIfAny(file.toString());
        List<ImageFile> photos = new ArrayList<>();
        byPhoto.keySet()
                .forEach(p -> photos.add(ImageFile.read(photos.size(), file.resolveSibling(p))));
        return new CsvDataset(classes, photos, List.copyOf(byPhoto.values()));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e);
        }
    }

    @Override
    public List<Annotation> annotations(int index) {
        return annotations.get(index);
    }
}

package dev.saccade.datasets.convert;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.coco.CocoFiles;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * COCO's own format, read to be divided into parts or put into one folder: boxes, outlines, areas,
 * crowds and the ids of classes stay as they are; images and objects are counted anew.
 */
final class CocoFileReader implements LabelReader {

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return samples.have(LabelFormat.COCO);
    }

    @Override
    public ForeignLabels read(Reading reading) {
        SourceFolder folder = reading.folder();
        Map<Long, String> categories = new LinkedHashMap<>();
        List<Drawing> drawings = new ArrayList<>();
        Map<Path, String> files = new LinkedHashMap<>();
        folder.ending(".json").forEach(file -> files.put(folder.path(file), file));
        for (Path file : CocoFiles.ofObjects(List.copyOf(files.keySet()))) {
            try {
                Optional<CocoDataset> data = CocoDataset.read(file, reading::report);
                if (data.isPresent()) {
                    addCategories(reading, file, data.get(), categories);
                    addDrawings(reading, files.get(file), data.get(), drawings);
                }
            } catch (SaccadeException e) {
                reading.report(Finding.error(file.toString(), e));
            }
        }
        return reading.labels(Optional.of(List.copyOf(categories.values())), drawings)
                .withCategoryIds(List.copyOf(categories.keySet()));
    }

    /** Adds the classes of a file; those of all files go by the same ids and names. */
    private static void addCategories(
            Reading reading, Path file, CocoDataset data, Map<Long, String> categories) {
        for (int label = 0; label < data.classes().size(); label++) {
            long id = data.categoryId(label);
            String name = data.classes().get(label);
            boolean isNew = !categories.containsKey(id);
            if (isNew ? categories.containsValue(name) : !categories.get(id).equals(name)) {
                reading.error(
                        file.toString(),
                        Text.format(
                                        "category %d is \"%s\", other than in the files before; expected the same",
                                        id, name)
                                + " ids and names in all");
            }
            categories.putIfAbsent(id, name);
        }
    }

    private static void addDrawings(
            Reading reading, String file, CocoDataset data, List<Drawing> drawings) {
        Optional<Part> part = part(file);
        CocoImages images = CocoImages.find(reading.folder(), file, data.fileNames());
        for (int i = 0; i < data.size(); i++) {
            String place = reading.place(file) + ": image " + data.imageId(i);
            String name = data.fileNames().get(i);
            Optional<String> found = images.of(name);
            String source = data.source(i);
            found.ifPresent(image -> reading.addSource(image, source));
            drawings.add(
                    new Drawing(
                            found.orElse(""),
                            found.orElse(""),
                            /* embedded= */ false,
                            place,
                            part.or(() -> found.flatMap(Part::ofPath)),
                            Optional.of(data.imageSize(i)),
                            /* inFractions= */ false,
                            objects(data, i, place),
                            found.isPresent()
                                    ? List.of()
                                    : List.of(
                                            Finding.error(
                                                    place,
                                                    "",
                                                    Text.format(
                                                            "there is no image %s in %s",
                                                            name, reading.place(images.base()))))));
        }
    }

    private static List<DrawnObject> objects(CocoDataset data, int image, String place) {
        List<DrawnObject> objects = new ArrayList<>();
        for (Annotation object : data.annotations(image)) {
            String name = data.classes().get(object.label());
            objects.add(new DrawnObject(place, name, new Outline.Labeled(object)));
        }
        return objects;
    }

    /** Returns what a file is for by its folder, else by a word in its name. */
    private static Optional<Part> part(String file) {
        return Part.ofPath(file)
                .or(
                        () ->
                                Splitter.on(CharMatcher.anyOf("_-."))
                                        .splitToStream(
                                                SourceFolder.stem(SourceFolder.fileName(file)))
                                        .map(Part::named)
                                        .flatMap(Optional::stream)
                                        .findFirst());
    }
}

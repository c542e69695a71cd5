package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.collect.SetMultimap;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The label files of YOLO images: {@code labels/a.txt} of {@code images/a.jpg}, else {@code a.txt}
 * beside it; {@code a.png.txt} of {@code a.png} where {@code a.jpg} exists, too. Files whose names
 * differ in encoding, case or a second ending ({@code a.jpg.txt}) are paired if only one image and
 * one file remain for a name. Remaining images have no objects, unless label files remain, too:
 * then names are wrong, which is an error.
 */
final class YoloFiles {

    private static final String IMAGES = "/images/";
    private static final String LABELS = "/labels/";

    /** Ways to compare the names of an image and of a label file, the strictest first. */
    private record Rule(UnaryOperator<String> image, UnaryOperator<String> labels) {}

    private static final List<Rule> RULES =
            List.of(
                    new Rule(NameKey::ofStem, NameKey::ofStem),
                    new Rule(NameKey::of, NameKey::ofStem),
                    new Rule(NameKey::ofBareStem, NameKey::ofBareStem));

    private final Reading reading;
    private final SourceFolder folder;
    private final Map<String, String> labels = new LinkedHashMap<>();
    private final Set<String> images = new LinkedHashSet<>();
    private final Set<String> orphans = new LinkedHashSet<>();

    private YoloFiles(Reading reading) {
        this.reading = reading;
        this.folder = reading.folder();
    }

    /** Pairs images with label files and reports what remains. */
    static YoloFiles of(Reading reading, YoloData data) {
        YoloFiles files = new YoloFiles(reading);
        files.pairByName(data.photographs().keySet());
        files.collectOrphans(data);
        files.pairByKey();
        files.orphans.removeIf(
                file ->
                        files.imagesOf(file).stream()
                                .anyMatch(image -> !data.photographs().containsKey(image)));
        files.reportShared();
        files.reportRemaining(data.photographs().size());
        return files;
    }

    /** Returns the label file of an image. */
    Optional<String> labelsOf(String image) {
        return Optional.ofNullable(labels.get(image));
    }

    private void pairByName(Set<String> all) {
        for (String image : all) {
            String stem = SourceFolder.stem(image);
            Optional<String> own =
                    folder.photographsOf(stem).size() > 1 ? beside(image) : Optional.empty();
            Optional<String> file = own.or(() -> beside(stem));
            file.ifPresentOrElse(path -> labels.put(image, path), () -> images.add(image));
        }
    }

    private Optional<String> beside(String path) {
        String file = path + ".txt";
        return folder.first(moved(file, IMAGES, LABELS), file);
    }

    /** Returns a path with the last folder of a name replaced by another. */
    private static String moved(String path, String from, String to) {
        String rooted = "/" + path;
        int at = rooted.lastIndexOf(from);
        return at < 0
                ? path
                : (rooted.substring(0, at) + to + rooted.substring(at + from.length()))
                        .substring(1);
    }

    private void collectOrphans(YoloData data) {
        Set<String> paired = ImmutableSet.copyOf(labels.values());
        for (String file : folder.ending(".txt")) {
            if (!paired.contains(file)
                    && !data.files().contains(file)
                    && !isOfOtherImage(file)
                    && YoloData.isLabels(folder.path(file))) {
                orphans.add(file);
            }
        }
    }

    /** Returns the images that a label file may be of, listed in the data set or not. */
    private List<String> imagesOf(String file) {
        String stem = SourceFolder.stem(file);
        List<String> mirrored = folder.photographsOf(moved(stem, LABELS, IMAGES));
        return mirrored.isEmpty() ? folder.photographsOf(stem) : mirrored;
    }

    /** Returns whether a file is named like an image that has labels, or is not listed. */
    private boolean isOfOtherImage(String file) {
        String stem = SourceFolder.stem(file);
        boolean isNamed =
                folder.hasPhotograph(moved(stem, LABELS, IMAGES)) || folder.hasPhotograph(stem);
        return isNamed && imagesOf(file).stream().noneMatch(images::contains);
    }

    private void pairByKey() {
        List<String> pairs = new ArrayList<>();
        for (Rule rule : RULES) {
            NameIndex imagesByKey = new NameIndex(images, rule.image);
            SetMultimap<String, String> candidates = LinkedHashMultimap.create();
            for (String file : orphans) {
                String key = rule.labels.apply(file);
                imagesByKey
                        .only(moved(key, LABELS, IMAGES))
                        .or(() -> imagesByKey.only(key))
                        .ifPresent(image -> candidates.put(image, file));
            }
            for (String image : ImmutableSet.copyOf(candidates.keySet())) {
                if (candidates.get(image).size() == 1) {
                    String file = candidates.get(image).iterator().next();
                    labels.put(image, file);
                    images.remove(image);
                    orphans.remove(file);
                    pairs.add(file + " with " + image);
                }
            }
        }
        if (!pairs.isEmpty()) {
            reading.note(
                    Text.format(
                            "%s paired with images of slightly other names, such as %s",
                            Count.of(pairs.size(), "label file"), pairs.get(0)));
        }
    }

    private void reportShared() {
        SetMultimap<String, String> imagesOf =
                Multimaps.invertFrom(Multimaps.forMap(labels), LinkedHashMultimap.create());
        imagesOf.asMap()
                .forEach(
                        (file, shared) -> {
                            if (shared.size() > 1) {
                                reading.warning(
                                        reading.place(file),
                                        Text.format(
                                                "labels of %s; remove images without labels of their"
                                                        + " own, or rename them",
                                                String.join(" and ", shared)));
                            }
                        });
    }

    private void reportRemaining(int count) {
        if (labels.isEmpty() && !images.isEmpty()) {
            reading.error(
                    folder.toString(),
                    Text.format(
                            "none of %s has labels, expected those of %s in a file of its"
                                    + " name that ends in .txt, in labels/ in place of images/ or"
                                    + " beside it",
                            Count.of(count, "photograph"), images.iterator().next()));
        } else if (!images.isEmpty() && !orphans.isEmpty()) {
            reading.error(
                    folder.toString(),
                    Text.format(
                            "%s without labels and %s without an image, such as %s and %s;"
                                    + " give both the same name, or remove the label files",
                            Count.of(images.size(), "image"),
                            Count.of(orphans.size(), "label file"),
                            images.iterator().next(),
                            orphans.iterator().next()));
        } else {
            if (!images.isEmpty()) {
                reading.note(
                        Text.format(
                                "%s without a label file, such as %s; read as images without objects",
                                Count.of(images.size(), "image"), images.iterator().next()));
            }
            orphans.forEach(
                    file ->
                            reading.warning(
                                    reading.place(file),
                                    "labels without a photograph, they are left out"));
        }
    }
}

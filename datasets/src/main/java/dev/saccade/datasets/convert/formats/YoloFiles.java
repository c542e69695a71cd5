package dev.saccade.datasets.convert.formats;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.collect.SetMultimap;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.source.NameKey;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Pairs YOLO images with their label files: {@code images/a.jpg} with {@code labels/a.txt}, or else
 * {@code a.txt} next to it; {@code a.png} with {@code a.png.txt} if {@code a.jpg} also exists.
 * Names that differ in encoding, case or a second suffix ({@code a.jpg.txt}) are paired if they are
 * unambiguous. Remaining images have no objects. If no image is paired or label files remain, too,
 * names must be wrong, which is an error.
 */
final class YoloFiles {

    private static final String IMAGES = "/images/";
    private static final String LABELS = "/labels/";

    /** Rule to compare the names of an image and a label file. */
    private record Rule(UnaryOperator<String> image, UnaryOperator<String> labels) {}

    private static final List<Rule> RULES =
            List.of(
                    new Rule(NameKey::ofStem, NameKey::ofStem),
                    new Rule(NameKey::of, NameKey::ofStem),
                    new Rule(NameKey::ofBareStem, NameKey::ofBareStem));

    private final ConversionContext context;
    private final SourceFolder folder;
    private final Map<String, String> labels = new LinkedHashMap<>();

    private final Set<String> images = new LinkedHashSet<>();

    private final List<String> pairs = new ArrayList<>();

    private final Set<String> orphans = new LinkedHashSet<>();

    private YoloFiles(ConversionContext context) {
        this.context = context;
        this.folder = context.folder();
    }

    static YoloFiles of(ConversionContext context, YoloData data) {
        YoloFiles files = new YoloFiles(context);
        Set<String> all = data.splits().keySet();
        all.forEach(files::pairByName);
        files.collectOrphans(data);
        RULES.forEach(files::pairByKey);
        files.reportPairs();
        files.orphans.removeIf(file -> !all.containsAll(files.imagesOf(file)));
        files.reportShared();
        files.reportRemaining(all.size());
        return files;
    }

    Optional<String> labelsOf(String image) {
        return Optional.ofNullable(labels.get(image));
    }

    private void pairByName(String image) {
        String stem = SourceFolder.stem(image);
        boolean isAmbiguous = folder.imagesOf(stem).size() > 1;
        Optional<String> own = isAmbiguous ? beside(image) : Optional.empty();
        own.or(() -> beside(stem))
                .ifPresentOrElse(file -> labels.put(image, file), () -> images.add(image));
    }

    private Optional<String> beside(String path) {
        return folder.first(moved(path, IMAGES, LABELS) + ".txt", path + ".txt");
    }

    /** Replaces the last folder {@code from} in a path with {@code to}. */
    private static String moved(String path, String from, String to) {
        String rooted = "/" + path;
        int at = rooted.lastIndexOf(from);
        return at < 0
                ? path
                : (rooted.substring(0, at) + to + rooted.substring(at + from.length()))
                        .substring(1);
    }

    private void collectOrphans(YoloData data) {
        Set<String> known = new LinkedHashSet<>(labels.values());
        known.addAll(data.files());
        for (String file : folder.ending(".txt")) {
            if (!known.contains(file)
                    && !isOfOtherImage(file)
                    && YoloData.isLabels(folder.path(file))) {
                orphans.add(file);
            }
        }
    }

    private List<String> imagesOf(String file) {
        String stem = SourceFolder.stem(file);
        List<String> mirrored = folder.imagesOf(moved(stem, LABELS, IMAGES));
        return mirrored.isEmpty() ? folder.imagesOf(stem) : mirrored;
    }

    /** Returns whether a label file only matches images that have labels or are not listed. */
    private boolean isOfOtherImage(String file) {
        String stem = SourceFolder.stem(file);
        boolean isNamed = folder.hasImage(moved(stem, LABELS, IMAGES)) || folder.hasImage(stem);
        return isNamed && imagesOf(file).stream().noneMatch(images::contains);
    }

    private void pairByKey(Rule rule) {
        ImmutableListMultimap<String, String> imagesByKey =
                Multimaps.index(images, rule.image::apply);
        SetMultimap<String, String> candidates = LinkedHashMultimap.create();
        for (String file : orphans) {
            String key = rule.labels.apply(file);
            SourceFolder.only(imagesByKey.get(moved(key, LABELS, IMAGES)))
                    .or(() -> SourceFolder.only(imagesByKey.get(key)))
                    .ifPresent(image -> candidates.put(image, file));
        }
        candidates
                .asMap()
                .forEach(
                        (image, files) ->
                                SourceFolder.only(List.copyOf(files))
                                        .ifPresent(file -> pair(image, file)));
    }

    private void pair(String image, String file) {
        labels.put(image, file);
        images.remove(image);
        orphans.remove(file);
        pairs.add(file + " with " + image);
    }

    private void reportPairs() {
        if (!pairs.isEmpty()) {
            context.note(
                    Text.format(
                            "%s paired with images of slightly different names, such as %s",
                            Count.of(pairs.size(), "label file"), pairs.get(0)));
        }
    }

    private void reportShared() {
        Multimaps.invertFrom(Multimaps.forMap(labels), LinkedHashMultimap.create())
                .asMap()
                .forEach(
                        (file, shared) -> {
                            if (shared.size() > 1) {
                                context.warning(
                                        context.place(file),
                                        "contains the labels of %s; remove the images without their"
                                                + " own labels, or rename them",
                                        String.join(" and ", shared));
                            }
                        });
    }

    private void reportRemaining(int count) {
        if (!images.isEmpty() && labels.isEmpty()) {
            context.error(
                    folder.toString(),
                    "none of %s has labels; the label file of %s must have the same name with .txt,"
                            + " in labels/ instead of images/ or next to the image",
                    Count.of(count, "image"),
                    images.iterator().next());
        } else if (!images.isEmpty() && !orphans.isEmpty()) {
            context.error(
                    folder.toString(),
                    "%s without labels and %s without an image, such as %s and %s; give both the"
                            + " same name, or remove the label files",
                    Count.of(images.size(), "image"),
                    Count.of(orphans.size(), "label file"),
                    images.iterator().next(),
                    orphans.iterator().next());
        } else if (!images.isEmpty()) {
            context.note(
                    Text.format(
                            "%s without a label file, such as %s; read as images without objects",
                            Count.of(images.size(), "image"), images.iterator().next()));
        } else {
            for (String file : orphans) {
                context.warning(context.place(file), "labels have no image; skipped");
            }
        }
    }
}

package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;

import dev.saccade.config.Suggestions;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.convert.source.NameKey;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageReader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Builds the labels of a folder from parsed images, in the same way for all formats. */
public final class LabelBuilder {

    private static final int MAX_SHOWN = 20;

    private final ConversionContext context;
    private final String folder;
    private final Map<String, String> sources;
    private final Map<String, Integer> labelOf = new HashMap<>();

    private LabelBuilder(ConversionContext context, Map<String, String> sources) {
        this.context = context;
        this.folder = context.folder().toString();
        this.sources = sources;
    }

    /** Builds the labels of parsed images; by default, classes are the sorted object names. */
    public static SourceLabels build(
            ConversionContext context,
            Optional<? extends List<String>> known,
            List<ParsedImage> images,
            Map<String, String> sources) {
        TreeSet<String> names = new TreeSet<>();
        images.forEach(image -> image.objects().forEach(object -> names.add(object.name())));
        List<String> classes = known.<List<String>>map(n -> n).orElse(List.copyOf(names));
        LabelBuilder builder = new LabelBuilder(context, sources);
        for (int label = 0; label < classes.size(); label++) {
            builder.labelOf.putIfAbsent(classes.get(label), label);
            if (!UTF_8.newEncoder().canEncode(classes.get(label))) {
                context.error(
                        builder.folder,
                        "class \"%s\" is not valid Unicode; rename it",
                        classes.get(label));
            }
        }
        List<LabeledImage> labeled = context.images(builder.once(images), builder::image);
        return build(context, classes, labeled, Optional.empty());
    }

    public static SourceLabels build(
            ConversionContext context,
            List<String> classes,
            List<LabeledImage> images,
            Optional<PixelEncoding> pixels) {
        LabelBuilder builder = new LabelBuilder(context, Map.of());
        if (images.isEmpty() && context.findings().stream().noneMatch(Finding::isError)) {
            context.error(
                    builder.folder,
                    "has no labeled image; copy the images into it, or export them with the labels");
        }
        List<LabeledImage> sorted =
                images.stream().sorted(Comparator.comparing(LabeledImage::name)).toList();
        builder.warnOfMissingOutlines(sorted);
        builder.warnOfSimilarNames(classes);
        builder.warnOfCopies(sorted);
        List<Long> ids = LongStream.rangeClosed(1, classes.size()).boxed().toList();
        return new SourceLabels(
                classes,
                ids,
                sorted,
                pixels,
                context.hasImageClasses(),
                context.notes(),
                context.findings());
    }

    private List<ParsedImage> once(List<ParsedImage> images) {
        Map<String, ParsedImage> first = new HashMap<>();
        List<ParsedImage> once = new ArrayList<>();
        for (ParsedImage image : images) {
            ParsedImage other = first.putIfAbsent(image.image(), image);
            if (other == null || image.image().isEmpty()) {
                once.add(image);
            } else if (image.split().equals(other.split())) {
                context.error(
                        image.place(),
                        "labels %s, which %s also labels; remove one of the two" + " files",
                        image.image(),
                        other.place());
            } else {
                context.error(
                        image.place(),
                        "%s is in %s and in %s; expected it in one split",
                        image.image(),
                        other.split().orElse(Split.TRAIN).key(),
                        image.split().orElse(Split.TRAIN).key());
            }
        }
        return once;
    }

    private LabeledImage image(ParsedImage parsed) {
        Path file = context.folder().path(parsed.file());
        Size size = new Size(0, 0);
        if (!parsed.image().isEmpty()) {
            Optional<ImageHeader> header = header(file, parsed.embedded(), parsed);
            size = header.map(ImageHeader::size).orElse(size);
            header.ifPresent(h -> checkSize(parsed, h));
        }
        ObjectBuilder objects = new ObjectBuilder(size, parsed);
        for (ParsedObject object : ParsedObject.joined(parsed.objects())) {
            Integer label = labelOf.get(object.name());
            if (label == null) {
                parsed.error(
                        object.place(),
                        "class \"%s\" is not in the classes %s%s",
                        object.name(),
                        labelOf.keySet().stream().sorted().limit(MAX_SHOWN).toList(),
                        Suggestions.suggestion(object.name(), labelOf.keySet()));
            } else if (size.area() > 0) {
                objects.add(object, label);
            }
        }
        return new LabeledImage(
                parsed.image(),
                file,
                parsed.embedded(),
                parsed.split(),
                size,
                objects.objects(),
                Optional.empty(),
                parsed.findings(),
                sources.getOrDefault(parsed.image(), ""));
    }

    /** Returns the header of an image; reports an error and returns none if it is unusable. */
    public static Optional<ImageHeader> header(Path file, boolean embedded, Reporter faults) {
        try {
            String name = file.toString();
            ImageHeader header =
                    embedded
                            ? ImageHeader.read(name, EmbeddedImage.read(file))
                            : ImageHeader.read(file);
            ImageReader.checkFile(name, header);
            return Optional.of(header);
        } catch (SaccadeException e) {
            faults.accept(Finding.error(file.toString(), e));
            return Optional.empty();
        }
    }

    private static void checkSize(ParsedImage parsed, ImageHeader header) {
        if (parsed.declared().isEmpty() && !header.size().equals(header.storedSize())) {
            parsed.warning(
                    parsed.place(),
                    "%s has EXIF orientation %d, but its labels lack a size; check that they"
                            + " match the upright image (convert-data, then browse)",
                    parsed.image(),
                    header.orientation());
        }
        Optional<Size> declared = parsed.declared().filter(size -> !size.equals(header.size()));
        if (declared.isPresent()) {
            String cause =
                    header.isTransposed() && declared.get().equals(header.storedSize())
                            ? " upright; the labels refer to the image without EXIF orientation "
                                    + header.orientation()
                            : "; the labels refer to another image";
            parsed.fault(
                    "states %s (height x width), but %s is %s%s",
                    declared.get(), parsed.image(), header.size(), cause);
        }
    }

    private void warnOfMissingOutlines(List<LabeledImage> images) {
        List<Annotation> objects = images.stream().flatMap(i -> i.objects().stream()).toList();
        long boxes =
                objects.stream().filter(o -> o.segmentation() instanceof Segmentation.None).count();
        if (boxes > 0 && boxes < objects.size()) {
            context.warning(
                    folder,
                    "%d of %s have a box but no outline; they are kept for box-only models, but"
                            + " mask models reject them",
                    boxes,
                    Count.of(objects.size(), "object"));
        }
    }

    private void warnOfSimilarNames(List<String> classes) {
        Map<String, String> byKey = new HashMap<>();
        for (String name : classes) {
            String other = byKey.putIfAbsent(NameKey.of(name), name);
            if (other != null && !other.equals(name)) {
                context.warning(
                        folder,
                        "classes \"%s\" and \"%s\" differ only in case or blanks; if they are the"
                                + " same class, rename one of them",
                        other,
                        name);
            }
        }
    }

    private void warnOfCopies(List<LabeledImage> images) {
        SetMultimap<String, Split> splits = LinkedHashMultimap.create();
        images.forEach(i -> splits.put(i.source(), i.split().orElse(Split.TRAIN)));
        List<String> leaked =
                splits.keySet().stream().filter(source -> splits.get(source).size() > 1).toList();
        if (!leaked.isEmpty()) {
            context.warning(
                    folder,
                    "augmented copies of %s, such as %s, are in %s; move the copies of each image"
                            + " into one split, otherwise metrics are too high",
                    Count.of(leaked.size(), "image"),
                    leaked.get(0),
                    splits.get(leaked.get(0)).stream()
                            .map(Split::key)
                            .collect(Collectors.joining(" and in ")));
        }
    }
}

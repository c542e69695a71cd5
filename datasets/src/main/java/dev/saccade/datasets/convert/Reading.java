package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;

import dev.saccade.config.Suggestions;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageReader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** A folder of labels while it is read, and what all formats have in common. */
final class Reading {

    private final SourceFolder folder;
    private final Runnable onPhoto;
    private final List<Finding> findings;
    private final List<String> notes = new ArrayList<>();
    private final Map<String, String> sources = new HashMap<>();

    /**
     * Starts with a folder.
     *
     * @param findings what is wrong with it so far
     * @param onPhoto called after each photograph, from the calling thread
     */
    Reading(SourceFolder folder, List<Finding> findings, Runnable onPhoto) {
        this.folder = folder;
        this.findings = findings;
        this.onPhoto = onPhoto;
    }

    SourceFolder folder() {
        return folder;
    }

    /** Returns where a file is, as messages have it. */
    String place(String file) {
        return folder.path(file).toString();
    }

    void report(Finding finding) {
        findings.add(finding);
    }

    void error(String place, String message) {
        findings.add(Finding.error(place, "", message));
    }

    void warning(String place, String message) {
        findings.add(Finding.warning(place, "", message));
    }

    /**
     * Says how many photographs nobody has labeled: they are no photographs that show nothing.
     *
     * @param missing what they have not
     */
    void tellUnlabeled(List<String> photographs, Set<String> labeled, String missing) {
        List<String> others = photographs.stream().filter(p -> !labeled.contains(p)).toList();
        if (!others.isEmpty()) {
            warning(
                    folder.toString(),
                    Text.format(
                            "%s without %s, such as %s, %s left out",
                            Count.of(others.size(), "photograph"),
                            missing,
                            others.get(0),
                            others.size() == 1 ? "is" : "are"));
        }
    }

    /** States the image that an image is an augmented copy of. */
    void addSource(String photograph, String source) {
        sources.put(photograph, source);
    }

    /** Says what was decided, in a sentence. */
    void note(String sentence) {
        notes.add(sentence);
    }

    /** Does tasks on all processors and returns their results in the order of the tasks. */
    static <T> List<T> inParallel(List<Callable<T>> tasks, Runnable onEach) {
        ImmutableList.Builder<T> results = ImmutableList.builder();
        int threads = Runtime.getRuntime().availableProcessors();
        try (Workers workers = new Workers("label-reader", threads)) {
            workers.run(
                    tasks,
                    result -> {
                        results.add(result);
                        onEach.run();
                    });
        }
        return results.build();
    }

    /** Does the tasks that each read a photograph. */
    List<LabeledPhoto> photos(List<Callable<LabeledPhoto>> tasks) {
        return inParallel(tasks, onPhoto);
    }

    /**
     * Returns what is drawn, made to objects.
     *
     * @param known the names of the classes; those that occur, sorted, if none are
     */
    ForeignLabels labels(Optional<? extends List<String>> known, List<Drawing> drawings) {
        List<String> classes =
                known.<List<String>>map(ImmutableList::copyOf)
                        .orElseGet(() -> namesOf(drawings).asList());
        classes.stream()
                .filter(name -> !UTF_8.newEncoder().canEncode(name))
                .forEach(
                        name ->
                                error(
                                        folder.toString(),
                                        Text.format(
                                                "class \"%s\" is no text in Unicode; rename it",
                                                name)));
        Map<String, Integer> labels = new HashMap<>();
        for (int label = 0; label < classes.size(); label++) {
            labels.putIfAbsent(classes.get(label), label);
        }
        List<Callable<LabeledPhoto>> tasks = new ArrayList<>();
        once(drawings).forEach(drawing -> tasks.add(() -> photo(drawing, labels)));
        return labels(classes, photos(tasks), Optional.empty());
    }

    /** Returns what was read of photographs. */
    ForeignLabels labels(
            List<String> classes, List<LabeledPhoto> photos, Optional<PixelCode> pixels) {
        if (photos.isEmpty()
                && findings.stream().noneMatch(f -> f.severity() == Finding.Severity.ERROR)) {
            error(folder.toString(), "has no photograph with labels");
        }
        List<LabeledPhoto> sorted =
                photos.stream().sorted(Comparator.comparing(LabeledPhoto::name)).toList();
        tellMixture(sorted);
        warnOfAlike(classes);
        warnOfCopies(sorted);
        List<Long> counted = LongStream.rangeClosed(1, classes.size()).boxed().toList();
        return new ForeignLabels(classes, counted, sorted, pixels, notes, findings);
    }

    private void warnOfAlike(List<String> classes) {
        Map<String, String> byKey = new HashMap<>();
        for (String name : classes) {
            String other = byKey.putIfAbsent(NameKey.of(name), name);
            if (other != null && !other.equals(name)) {
                warning(
                        folder.toString(),
                        Text.format(
                                "classes \"%s\" and \"%s\" differ in case or blanks alone; if they"
                                        + " are one class, rename one of them",
                                other, name));
            }
        }
    }

    private void warnOfCopies(List<LabeledPhoto> photos) {
        SetMultimap<String, Part> parts = LinkedHashMultimap.create();
        for (LabeledPhoto photo : photos) {
            parts.put(photo.source(), photo.part().orElse(Part.TRAIN));
        }
        List<String> split =
                parts.keySet().stream().filter(source -> parts.get(source).size() > 1).toList();
        if (!split.isEmpty()) {
            warning(
                    folder.toString(),
                    Text.format(
                            "augmented copies of %s, such as %s, are in %s; put copies of one image"
                                    + " into one part, or the results are too good",
                            Count.of(split.size(), "image"),
                            split.get(0),
                            parts.get(split.get(0)).stream()
                                    .map(Part::key)
                                    .collect(Collectors.joining(" and in "))));
        }
    }

    private static ImmutableSortedSet<String> namesOf(List<Drawing> drawings) {
        ImmutableSortedSet.Builder<String> names = ImmutableSortedSet.naturalOrder();
        drawings.forEach(drawing -> drawing.objects().forEach(object -> names.add(object.name())));
        return names.build();
    }

    /** Two files of labels for one photograph would make two photographs of it. */
    private List<Drawing> once(List<Drawing> drawings) {
        Map<String, Drawing> first = new HashMap<>();
        List<Drawing> once = new ArrayList<>();
        for (Drawing drawing : drawings) {
            Drawing other = first.putIfAbsent(drawing.photograph(), drawing);
            if (other == null || drawing.photograph().isEmpty()) {
                once.add(drawing);
            } else if (drawing.part().equals(other.part())) {
                error(
                        drawing.place(),
                        Text.format(
                                "labels %s, and so does %s", drawing.photograph(), other.place()));
            } else {
                error(
                        drawing.place(),
                        Text.format(
                                "%s is in %s and in %s; expected it in one part",
                                drawing.photograph(),
                                other.part().orElse(Part.TRAIN).key(),
                                drawing.part().orElse(Part.TRAIN).key()));
            }
        }
        return once;
    }

    private LabeledPhoto photo(Drawing drawing, Map<String, Integer> labels) {
        Path file = folder.path(drawing.file());
        List<Finding> faults = new ArrayList<>(drawing.findings());
        Size size = new Size(0, 0);
        if (!drawing.photograph().isEmpty()) {
            try {
                ImageHeader header = header(drawing, file);
                ImageReader.check(file.toString(), header);
                size = header.size();
                requireSize(drawing, header, faults);
            } catch (SaccadeException e) {
                faults.add(Finding.error(file.toString(), e));
            }
        }
        PhotoObjects objects = new PhotoObjects(size, faults);
        for (DrawnObject object : drawing.objects()) {
            Integer label = labels.get(object.name());
            if (label == null) {
                objects.error(
                        object.place(),
                        Text.format(
                                "class \"%s\" is not among the classes %s%s",
                                object.name(),
                                labels.keySet().stream().sorted().limit(20).toList(),
                                Suggestions.suggestion(object.name(), labels.keySet())));
            } else if (size.area() > 0) {
                objects.add(drawing.inFractions() ? scaled(object, size) : object, label);
            }
        }
        return new LabeledPhoto(
                drawing.photograph(),
                file,
                drawing.embedded(),
                drawing.part(),
                size,
                objects.objects(),
                Optional.empty(),
                objects.findings(),
                LabeledPhoto.sourceOf(
                        drawing.photograph(), sources.getOrDefault(drawing.photograph(), "")));
    }

    private static ImageHeader header(Drawing drawing, Path file) {
        return drawing.embedded()
                ? ImageHeader.read(file.toString(), EmbeddedImage.read(file))
                : ImageHeader.read(file);
    }

    private static void requireSize(Drawing drawing, ImageHeader header, List<Finding> faults) {
        if (drawing.declared().isEmpty() && !header.size().equals(header.stored())) {
            faults.add(
                    Finding.warning(
                            drawing.place(),
                            "",
                            Text.format(
                                    "%s is turned upright by its EXIF orientation %d, and its"
                                            + " labels state no size; check that they are for the"
                                            + " upright image (convert-data, then browse)",
                                    drawing.photograph(), header.orientation())));
        }
        Optional<Size> declared = drawing.declared().filter(size -> !size.equals(header.size()));
        if (declared.isPresent()) {
            String message =
                    Text.format(
                            "says %s (height x width), but %s is %s",
                            declared.get(), drawing.photograph(), header.size());
            faults.add(
                    Finding.error(
                            drawing.place(),
                            "",
                            header.turned() && declared.get().equals(header.stored())
                                    ? message
                                            + ", turned upright: it was labeled without turning it,"
                                            + " EXIF orientation "
                                            + header.orientation()
                                    : message + "; its labels are of another picture"));
        }
    }

    private static DrawnObject scaled(DrawnObject object, Size size) {
        List<Outline> outlines = new ArrayList<>();
        for (Outline outline : object.outlines()) {
            if (outline instanceof Outline.Box box) {
                outlines.add(
                        new Outline.Box(
                                box.left() * size.width(),
                                box.top() * size.height(),
                                box.right() * size.width(),
                                box.bottom() * size.height()));
            } else if (outline instanceof Outline.Ring ring) {
                double[] points = ring.points().clone();
                for (int i = 0; i < points.length; i++) {
                    points[i] *= i % 2 == 0 ? size.width() : size.height();
                }
                outlines.add(new Outline.Ring(points));
            }
        }
        return new DrawnObject(
                object.place(), object.name(), object.group(), outlines, object.difficult());
    }

    /** Says that some objects have no mask where others do. */
    private void tellMixture(List<LabeledPhoto> photos) {
        long boxes = 0;
        long all = 0;
        for (LabeledPhoto photo : photos) {
            for (Annotation object : photo.objects()) {
                boxes += object.segmentation() instanceof Segmentation.None ? 1 : 0;
                all++;
            }
        }
        if (boxes > 0 && boxes < all) {
            warning(
                    folder.toString(),
                    Text.format(
                                    "%d of %s have a box and no outline; they stay boxes, which"
                                            + " models of boxes",
                                    boxes, Count.of(all, "object"))
                            + " learn, but models of masks refuse");
        }
    }
}

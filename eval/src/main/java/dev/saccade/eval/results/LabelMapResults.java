package dev.saccade.eval.results;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import com.google.common.collect.Sets;
import com.google.common.collect.Streams;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.convert.source.TextFile;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.IndexPng;
import dev.saccade.datasets.labels.LabelEncoding;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Predicted and ground-truth label maps in two folders, paired by name. 255 means no class. Class
 * names come from {@code classes.txt}, {@code class_names.txt} or {@code labels.txt} in the
 * annotation folder or up to two levels above it.
 */
final class LabelMapResults implements Dataset {

    private static final List<String> NAMES =
            List.of("classes.txt", "class_names.txt", "labels.txt");

    private static final int IGNORED = 255;
    private static final int MAX_LISTED = 5;

    private final LabelEncoding code;
    private final List<String> classes;
    private final List<ImageFile> annotations;
    private final List<Path> results;
    private final List<String> notes;

    private LabelMapResults(
            LabelEncoding code,
            List<String> classes,
            Map<String, Path> annotations,
            Map<String, Path> results,
            List<String> notes) {
        this.code = code;
        this.classes = classes;
        this.annotations =
                Streams.mapWithIndex(
                                annotations.values().stream(),
                                (file, i) ->
                                        new ImageFile(i + 1, file, ImageHeader.read(file).size()))
                        .toList();
        this.results = ImmutableList.copyOf(results.values());
        this.notes = notes;
    }

    /**
     * Pairs label maps by relative path; throws without results or if an annotation is missing.
     *
     * @param reduceZeroLabel whether 0 means no class; if empty, true if only annotations contain 0
     */
    static LabelMapResults find(Path results, Path annotations, Optional<Boolean> reduceZeroLabel) {
        SortedMap<String, Path> found = maps(results);
        SortedMap<String, Path> labeled = maps(annotations);
        Set<String> unknown = Sets.difference(found.keySet(), labeled.keySet());
        if (!unknown.isEmpty()) {
            throw SaccadeException.user(
                    "%s: %d of %d label maps have no annotation of the same name in %s: %s",
                    results,
                    unknown.size(),
                    found.size(),
                    annotations,
                    Iterables.limit(unknown, MAX_LISTED));
        }
        List<String> notes = new ArrayList<>();
        Set<String> missing = Sets.difference(labeled.keySet(), found.keySet());
        if (!missing.isEmpty()) {
            notes.add(
                    Text.format(
                            "%d of %d label maps have no results and are not evaluated: %s",
                            missing.size(), labeled.size(), Iterables.limit(missing, MAX_LISTED)));
        }
        labeled.keySet().retainAll(found.keySet());
        BitSet predicted = values(found.values());
        BitSet all = values(labeled.values());
        all.or(predicted);
        all.clear(IGNORED);
        boolean reduced = reduceZeroLabel.orElse(!predicted.get(0) && all.get(0));
        if (reduceZeroLabel.isEmpty() && all.get(0)) {
            notes.add(
                    reduced
                            ? "0 means no class, because no result contains it"
                                    + " (reduce_zero_label: true)"
                            : "0 is a class, because results contain it (reduce_zero_label:"
                                    + " false)");
        }
        List<String> classes =
                names(annotations).orElseGet(() -> numbered(all.length() - 1, reduced));
        LabelEncoding code =
                new LabelEncoding(classes.size(), reduced, IGNORED, "see reduce_zero_label");
        return new LabelMapResults(code, classes, labeled, found, notes);
    }

    private static List<String> numbered(int last, boolean reduced) {
        return IntStream.rangeClosed(reduced ? 1 : 0, last).mapToObj(n -> "class " + n).toList();
    }

    private static SortedMap<String, Path> maps(Path folder) {
        SortedMap<String, Path> maps = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                String name = folder.relativize(file).toString();
                if (name.toLowerCase(Locale.ROOT).endsWith(".png")) {
                    maps.put(name.substring(0, name.length() - 4), file);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
        if (maps.isEmpty()) {
            throw SaccadeException.user("%s: contains no PNG files; expected label maps", folder);
        }
        return maps;
    }

    private static BitSet values(Collection<Path> maps) {
        BitSet values = new BitSet();
        for (Path file : maps) {
            for (short value : IndexPng.read(file).values()) {
                values.set(Short.toUnsignedInt(value));
            }
        }
        return values;
    }

    private static Optional<List<String>> names(Path annotations) {
        Path folder = annotations.toAbsolutePath().normalize();
        for (int up = 0; up < 3 && folder != null; up++, folder = folder.getParent()) {
            for (String name : NAMES) {
                Path file = folder.resolve(name);
                if (Files.isRegularFile(file)) {
                    return Optional.of(
                            TextFile.lines(file).stream().map(TextFile.Line::text).toList());
                }
            }
        }
        return Optional.empty();
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public List<ImageFile> images() {
        return annotations;
    }

    @Override
    public LabelMap labels(int index) {
        return code.decode(annotations.get(index).file());
    }

    LabelMap result(int index) {
        return code.decode(results.get(index));
    }

    /** Returns remarks on missing results and inferred settings. */
    List<String> notes() {
        return notes;
    }
}

package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.image.PngPalette;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Compares the palettes of label maps, whose indices must stand for the same classes. */
final class Palettes {

    /** Files of a part that have the same palette, of which the first by name is kept. */
    private record Use(String part, List<Integer> colors, Path file, int files) {}

    private record Key(String part, List<Integer> colors) {}

    private final Map<Key, Use> uses = new HashMap<>();

    /** Adds a label map of a part; one without a palette does not count. */
    void add(String part, Path file) {
        List<Integer> colors = PngPalette.read(file);
        if (!colors.isEmpty()) {
            merge(new Use(part, colors, file, 1));
        }
    }

    private synchronized void merge(Use use) {
        uses.merge(
                new Key(use.part, use.colors),
                use,
                (one, other) ->
                        new Use(
                                one.part,
                                one.colors,
                                one.file.compareTo(other.file) < 0 ? one.file : other.file,
                                one.files + other.files));
    }

    /** Returns a warning for each part with palettes that contradict the most frequent one. */
    Map<String, List<Finding>> findings() {
        Map<String, List<Finding>> findings = new HashMap<>();
        List<Use> sorted = new ArrayList<>(uses.values());
        sorted.sort(Comparator.comparing(Use::file));
        Map<List<Integer>, Integer> counts = new HashMap<>();
        sorted.forEach(use -> counts.merge(use.colors, use.files, Integer::sum));
        if (counts.size() < 2) {
            return findings;
        }
        int most = counts.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
        Use usual =
                sorted.stream()
                        .filter(use -> counts.get(use.colors) == most)
                        .findFirst()
                        .orElseThrow();
        for (String part : sorted.stream().map(Use::part).distinct().toList()) {
            List<Use> own = sorted.stream().filter(use -> use.part.equals(part)).toList();
            List<Use> others =
                    own.stream()
                            .filter(use -> difference(use.colors, usual.colors).isPresent())
                            .toList();
            if (!others.isEmpty()) {
                findings.put(part, List.of(warning(own, others, usual)));
            }
        }
        return findings;
    }

    private static Finding warning(List<Use> own, List<Use> others, Use usual) {
        Use first = others.get(0);
        int index = difference(first.colors, usual.colors).orElseThrow();
        return Finding.warning(
                first.file.toString(),
                "",
                Text.format(
                        "index %d of its palette is color %s, but %s in %s (%d of %d palettes here"
                                + " differ); indices are read as classes, so save all label maps"
                                + " with one palette",
                        index,
                        color(first.colors.get(index)),
                        color(usual.colors.get(index)),
                        usual.file,
                        files(others),
                        files(own)));
    }

    private static int files(List<Use> uses) {
        return uses.stream().mapToInt(Use::files).sum();
    }

    /** Encoders leave out or blacken colors behind the last one in use, so these do not count. */
    private static OptionalInt difference(List<Integer> one, List<Integer> other) {
        for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
            if (!one.get(i).equals(other.get(i))) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    private static String color(int rgb) {
        return Text.format("%d,%d,%d", rgb >> 16, (rgb >> 8) & 0xFF, rgb & 0xFF);
    }
}

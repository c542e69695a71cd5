package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.image.IndexPng;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Compares the palettes of label maps, whose indices must have the same meaning. */
final class Palettes {

    /** Files of a split with the same palette; {@code file} is the first by name. */
    private record Use(String part, List<Integer> colors, Path file, int files) {

        private Use merge(Use other) {
            Path first = file.compareTo(other.file) < 0 ? file : other.file;
            return new Use(part, colors, first, files + other.files);
        }
    }

    private final Map<List<Object>, Use> uses = new HashMap<>();

    void add(String part, Path file) {
        List<Integer> colors = IndexPng.palette(file);
        if (!colors.isEmpty()) {
            synchronized (this) {
                uses.merge(List.of(part, colors), new Use(part, colors, file, 1), Use::merge);
            }
        }
    }

    Map<String, Finding> findings() {
        List<Use> sorted = new ArrayList<>(uses.values());
        sorted.sort(Comparator.comparing(Use::file));
        Map<List<Integer>, Integer> counts = new HashMap<>();
        sorted.forEach(use -> counts.merge(use.colors, use.files, Integer::sum));
        Map<String, Finding> findings = new HashMap<>();
        if (counts.size() > 1) {
            int most = counts.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
            Use usual =
                    sorted.stream()
                            .filter(use -> counts.get(use.colors) == most)
                            .findFirst()
                            .orElseThrow();
            for (Use use : sorted) {
                if (!findings.containsKey(use.part) && difference(use, usual).isPresent()) {
                    findings.put(use.part, warning(sorted, use, usual));
                }
            }
        }
        return findings;
    }

    private static Finding warning(List<Use> all, Use first, Use usual) {
        List<Use> own = all.stream().filter(use -> use.part.equals(first.part)).toList();
        List<Use> others = own.stream().filter(use -> difference(use, usual).isPresent()).toList();
        int index = difference(first, usual).orElseThrow();
        return Finding.warning(
                first.file.toString(),
                "",
                Text.format(
                        "index %d of the palette is color %s, but %s in %s (%d of %d palettes here"
                                + " differ); indices are class indices, so save all label maps"
                                + " with the same palette",
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

    /** Returns the first index with different colors; encoders may omit colors at the end. */
    private static OptionalInt difference(Use one, Use other) {
        for (int i = 0; i < Math.min(one.colors.size(), other.colors.size()); i++) {
            if (!one.colors.get(i).equals(other.colors.get(i))) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    private static String color(int rgb) {
        return Text.format("%d,%d,%d", rgb >> 16, (rgb >> 8) & 0xFF, rgb & 0xFF);
    }
}

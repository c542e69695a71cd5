package dev.saccade.datasets.convert.formats;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import com.google.common.collect.SetMultimap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.convert.source.NameKey;
import dev.saccade.datasets.convert.source.NearestPaths;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Locates the images of a COCO annotation file in one folder, {@code base} with a trailing slash.
 * If several folders contain the images, {@code base} is the nearest to the annotation file, so
 * {@code cam2/annotations.json} never uses {@code cam1/images/0.jpg}.
 */
record CocoImages(SourceFolder folder, String base) {

    private static final int MAX_SHOWN = 3;

    /** Finds the folder of the images; throws if there is none, or several match equally. */
    static CocoImages find(SourceFolder folder, String file, List<String> names) {
        if (names.isEmpty()) {
            return new CocoImages(folder, "");
        }
        SetMultimap<String, String> basesByEnd = basesByEnd(folder.images());
        Set<String> distinct = new HashSet<>(names);
        Multiset<String> found = HashMultiset.create();
        distinct.forEach(name -> found.addAll(bases(name, basesByEnd)));
        if (found.isEmpty()) {
            throw SaccadeException.user(
                    "%s: none of its images, such as %s, is in the folder; copy the images into"
                            + " it, or export them with the labels",
                    folder.path(file), names.get(0));
        }
        List<String> nearest = NearestPaths.nearest(file, found.elementSet());
        List<String> complete =
                nearest.stream().filter(base -> found.count(base) == distinct.size()).toList();
        int most = Multisets.copyHighestCountFirst(found).entrySet().iterator().next().getCount();
        if (complete.size() == 1) {
            return new CocoImages(folder, complete.get(0));
        } else if (nearest.size() == 1 && found.count(nearest.get(0)) == most) {
            return new CocoImages(folder, nearest.get(0));
        }
        throw SaccadeException.user(
                "%s: the images of this annotation file were found in several folders: %s; move it"
                        + " next to its images, or convert each folder separately",
                folder.path(file),
                Multisets.copyHighestCountFirst(found).entrySet().stream()
                        .limit(MAX_SHOWN)
                        .map(each -> folder.path(each.getElement()) + " (" + each.getCount() + ")")
                        .collect(Collectors.joining(", ")));
    }

    private static SetMultimap<String, String> basesByEnd(List<String> images) {
        SetMultimap<String, String> bases = LinkedHashMultimap.create();
        for (String image : images) {
            String base = image;
            do {
                base = SourceFolder.above(base);
                bases.put(NameKey.of(image.substring(base.length())), base);
            } while (!base.isEmpty());
        }
        return bases;
    }

    private static Set<String> bases(String name, SetMultimap<String, String> basesByEnd) {
        String end = NameKey.of(name);
        while (!basesByEnd.containsKey(end) && end.contains("/")) {
            end = end.substring(end.indexOf('/') + 1);
        }
        return basesByEnd.get(end);
    }

    Optional<String> of(String name) {
        return folder.findBelow(base, name);
    }
}

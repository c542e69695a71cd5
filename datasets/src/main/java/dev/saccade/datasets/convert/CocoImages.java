package dev.saccade.datasets.convert;

import com.google.common.base.Splitter;
import com.google.common.collect.HashMultiset;
import com.google.common.collect.Iterables;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;

import dev.saccade.core.SaccadeException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The images of an annotation file of COCO's format. All are in one folder: the one that has the
 * longest ends of their names, nearest to the file. So {@code cam2/annotations.json} never takes
 * {@code cam1/images/0.jpg}.
 *
 * @param base the folder, with a slash behind it
 */
record CocoImages(SourceFolder folder, String base) {

    private static final int MOST_SHOWN = 3;

    /**
     * Finds the folder of the images.
     *
     * @param file the annotation file
     * @param names the {@code file_name} of each image
     * @throws SaccadeException of kind user, if no folder has an image, or if several folders may
     *     be meant
     */
    static CocoImages find(SourceFolder folder, String file, List<String> names) {
        NameIndex byName =
                new NameIndex(
                        folder.photographs(), path -> SourceFolder.fileName(NameKey.of(path)));
        Set<String> distinct = new HashSet<>(names);
        Multiset<String> found = HashMultiset.create();
        distinct.forEach(name -> found.addAll(bases(name, byName)));
        if (found.isEmpty() && !names.isEmpty()) {
            throw SaccadeException.user(
                    "%s: none of its images, such as %s, is in the folder",
                    folder.path(file), names.get(0));
        }
        String base = names.isEmpty() ? "" : choose(folder, file, distinct.size(), found);
        return new CocoImages(folder, base);
    }

    private static String choose(
            SourceFolder folder, String file, int names, Multiset<String> found) {
        List<String> nearest = Nearness.nearest(file, found.elementSet());
        List<String> complete =
                nearest.stream().filter(base -> found.count(base) == names).toList();
        int most = found.elementSet().stream().mapToInt(found::count).max().orElse(0);
        if (complete.size() == 1) {
            return complete.get(0);
        } else if (nearest.size() == 1 && found.count(nearest.get(0)) == most) {
            return nearest.get(0);
        }
        throw SaccadeException.user(
                "%s: images of these names are in several folders, %s; put the file beside the folder"
                        + " of its images, or convert each folder on its own",
                folder.path(file),
                Multisets.copyHighestCountFirst(found).entrySet().stream()
                        .limit(MOST_SHOWN)
                        .map(each -> folder.path(each.getElement()) + " (" + each.getCount() + ")")
                        .collect(Collectors.joining(", ")));
    }

    /** Returns the folders that an image may start from: those of the longest end of its name. */
    private static Set<String> bases(String name, NameIndex byName) {
        List<String> written = names(NameKey.of(name));
        Set<String> bases = new HashSet<>();
        int longest = 0;
        for (String path : byName.all(Iterables.getLast(written, ""))) {
            List<String> there = names(path);
            int shared = shared(names(NameKey.of(path)), written);
            if (shared > longest) {
                bases.clear();
                longest = shared;
            }
            if (shared == longest) {
                List<String> above = there.subList(0, Math.max(0, there.size() - shared));
                bases.add(above.isEmpty() ? "" : String.join("/", above) + "/");
            }
        }
        return bases;
    }

    private static int shared(List<String> a, List<String> b) {
        int shared = 0;
        while (shared < Math.min(a.size(), b.size())
                && a.get(a.size() - 1 - shared).equals(b.get(b.size() - 1 - shared))) {
            shared++;
        }
        return shared;
    }

    private static List<String> names(String path) {
        List<String> names = new ArrayList<>();
        for (String name : Splitter.on('/').split(path)) {
            if (name.equals("..")) {
                names.clear();
            } else if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    /** Returns the image of a name. */
    Optional<String> of(String name) {
        return folder.findBelow(base, name);
    }
}

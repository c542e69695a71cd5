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
 * The images of an annotation file of COCO's format. All are in one folder: the one that has the
 * longest ends of their names, nearest to the file. So {@code cam2/annotations.json} never takes
 * {@code cam1/images/0.jpg}.
 *
 * @param base the folder, with a slash behind it
 */
record CocoImages(SourceFolder folder, String base) {

    private static final int MAX_SHOWN = 3;

    /**
     * Finds the folder of the images.
     *
     * @param file the annotation file
     * @param names the {@code file_name} of each image
     * @throws SaccadeException of kind user, if no folder has an image, or if several folders may
     *     be meant
     */
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
                    "%s: none of its images, such as %s, is in the folder",
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
                "%s: images of these names are in several folders, %s; put the file beside the"
                        + " folder of its images, or convert each folder on its own",
                folder.path(file),
                Multisets.copyHighestCountFirst(found).entrySet().stream()
                        .limit(MAX_SHOWN)
                        .map(each -> folder.path(each.getElement()) + " (" + each.getCount() + ")")
                        .collect(Collectors.joining(", ")));
    }

    /** Returns the folders of images by the key of the rest of their paths. */
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

    /** Returns the folders that the longest end of a name may start from. */
    private static Set<String> bases(String name, SetMultimap<String, String> basesByEnd) {
        String end = NameKey.of(name);
        while (!basesByEnd.containsKey(end) && end.contains("/")) {
            end = end.substring(end.indexOf('/') + 1);
        }
        return basesByEnd.get(end);
    }

    /** Returns the image of a name. */
    Optional<String> of(String name) {
        return folder.findBelow(base, name);
    }
}

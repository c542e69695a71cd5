package dev.saccade.report;

import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ListMultimap;

import dev.saccade.core.Count;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Finding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The findings of a data set check by image.
 *
 * @param byPhoto findings about each image, by its index
 * @param ofSet findings about the whole data set
 */
public record BrowseFindings(ListMultimap<Integer, String> byPhoto, List<String> ofSet) {

    private static final Pattern ID = Pattern.compile("(image|annotation) (-?\\d+)\\b.*");

    /** Assigns findings to images by file, image id or annotation id. */
    public static BrowseFindings of(Dataset dataset, List<Finding> findings) {
        Map<String, Integer> places = new HashMap<>();
        if (!findings.isEmpty()) {
            for (int i = 0; i < dataset.size(); i++) {
                places.putIfAbsent(dataset.image(i).file().toString(), i);
                places.putIfAbsent("image " + dataset.image(i).id(), i);
                for (Annotation annotation : dataset.annotations(i)) {
                    places.putIfAbsent("annotation " + annotation.id(), i);
                }
            }
        }
        ListMultimap<Integer, String> byPhoto = ArrayListMultimap.create();
        List<String> ofSet = new ArrayList<>();
        for (Finding finding : findings) {
            Matcher id = ID.matcher(finding.subject());
            Integer place = places.get(finding.file());
            if (place == null && id.matches()) {
                place = places.get(id.group(1) + " " + id.group(2));
            }
            if (place == null) {
                ofSet.add(finding.toString());
            } else {
                byPhoto.put(place, text(finding));
            }
        }
        return new BrowseFindings(byPhoto, ofSet);
    }

    private static String text(Finding finding) {
        return finding.subject().isEmpty()
                ? finding.message()
                : finding.subject() + ": " + finding.message();
    }

    /** Returns the findings about an image. */
    public List<String> ofPhoto(int position) {
        return byPhoto.get(position);
    }

    /** Returns findings about the data set, and the number of findings about hidden images. */
    public List<String> others(int shown) {
        long hidden = byPhoto.keys().stream().filter(position -> position >= shown).count();
        List<String> others = new ArrayList<>(ofSet);
        if (hidden > 0) {
            others.add(
                    Count.of(hidden, "finding")
                            + " about photographs that are not shown here; --count shows more");
        }
        return others;
    }
}

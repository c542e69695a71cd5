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
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Findings of a data set check by image index, and findings about the whole data set. */
public record BrowseFindings(ListMultimap<Integer, String> byImage, List<String> ofDataset) {

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
        ListMultimap<Integer, String> byImage = ArrayListMultimap.create();
        List<String> ofDataset = new ArrayList<>();
        for (Finding finding : findings) {
            Matcher id = ID.matcher(finding.subject());
            Integer place = places.get(finding.file());
            if (place == null && id.matches()) {
                place = places.get(id.group(1) + " " + id.group(2));
            }
            if (place == null) {
                ofDataset.add(finding.toString());
            } else {
                byImage.put(place, text(finding));
            }
        }
        return new BrowseFindings(byImage, ofDataset);
    }

    private static String text(Finding finding) {
        return finding.subject().isEmpty()
                ? finding.message()
                : finding.subject() + ": " + finding.message();
    }

    public List<String> ofImage(int position) {
        return byImage.get(position);
    }

    /**
     * Returns the findings about the data set, and a line with the number of findings about images
     * that are not shown.
     *
     * @param shown indices of the shown images
     */
    public List<String> others(List<Integer> shown) {
        Set<Integer> visible = Set.copyOf(shown);
        long hidden = byImage.keys().stream().filter(index -> !visible.contains(index)).count();
        List<String> others = new ArrayList<>(ofDataset);
        if (hidden > 0) {
            others.add(
                    Count.of(hidden, "finding")
                            + " about images that are not shown; show more with --count");
        }
        return others;
    }
}

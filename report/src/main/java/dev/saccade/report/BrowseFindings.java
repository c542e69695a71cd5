package dev.saccade.report;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ListMultimap;

import dev.saccade.core.Count;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Finding;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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
        ImmutableListMultimap.Builder<Integer, String> byPhoto = ImmutableListMultimap.builder();
        Stream.Builder<String> ofSet = Stream.builder();
        for (Finding finding : findings) {
            Optional<Integer> place = place(finding, places);
            place.ifPresentOrElse(
                    i -> byPhoto.put(i, text(finding)), () -> ofSet.add(finding.toString()));
        }
        return new BrowseFindings(byPhoto.build(), ofSet.build().toList());
    }

    private static Optional<Integer> place(Finding finding, Map<String, Integer> places) {
        Matcher id = ID.matcher(finding.subject());
        return Optional.ofNullable(places.get(finding.file()))
                .or(
                        () ->
                                id.matches()
                                        ? Optional.ofNullable(
                                                places.get(id.group(1) + " " + id.group(2)))
                                        : Optional.empty());
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
        return hidden == 0
                ? ofSet
                : Stream.concat(
                                ofSet.stream(),
                                Stream.of(
                                        Count.of(hidden, "finding")
                                                + " about photographs that are not shown here;"
                                                + " --count shows more"))
                        .toList();
    }
}

package dev.saccade.cli;

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
 * What is wrong with a data set, by the photograph that it is about.
 *
 * @param byPhoto the findings about each, by its position
 * @param ofSet those that are about none
 */
record BrowsedFaults(ListMultimap<Integer, String> byPhoto, List<String> ofSet) {

    private static final Pattern ID = Pattern.compile("(image|annotation) (-?\\d+)\\b.*");

    /** Assigns findings to photographs: by file, by the id of the image, or of an object on it. */
    static BrowsedFaults of(Dataset dataset, List<Finding> findings) {
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
        return new BrowsedFaults(byPhoto.build(), ofSet.build().toList());
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

    /** Returns what is wrong with a photograph. */
    List<String> ofPhoto(int position) {
        return byPhoto.get(position);
    }

    /** Returns what is wrong with the data set, and how much with photographs not shown. */
    List<String> others(int shown) {
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

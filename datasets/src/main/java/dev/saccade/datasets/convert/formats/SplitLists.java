package dev.saccade.datasets.convert.formats;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.source.TextFile;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The splits of images by the lists and folders of a data set. An image in several splits belongs
 * to the first alone: training images cannot be validation images.
 */
final class SplitLists {

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final ConversionContext context;
    private final Map<String, Optional<Split>> splits = new LinkedHashMap<>();

    /** Images that are listed again, by list and message. */
    private final ListMultimap<List<String>, String> repeated =
            MultimapBuilder.linkedHashKeys().arrayListValues().build();

    SplitLists(ConversionContext context) {
        this.context = context;
    }

    /**
     * Adds an image.
     *
     * @param place the list that contains it, for messages
     */
    void add(String image, Optional<Split> split, String place) {
        Optional<Split> other = splits.putIfAbsent(image, split);
        if (other != null) {
            String message =
                    other.equals(split)
                            ? "listed twice; they are taken once"
                            : Text.format(
                                    "for %s too; they are taken for that alone",
                                    other.map(Split::key).orElse("another part"));
            repeated.put(List.of(place, message), image);
        }
    }

    /**
     * Adds the files in a list, an id a line; VOC has more behind it, such as -1 for images without
     * a class.
     *
     * @param byId the file of each id
     * @param suffix of the files, for messages
     */
    void read(String list, Optional<Split> split, Map<String, String> byId, String suffix) {
        for (TextFile.Line line : context.lines(list)) {
            String text = line.text();
            String id = byId.containsKey(text) ? text : BLANKS.split(text, 2)[0];
            if (byId.containsKey(id)) {
                add(byId.get(id), split, context.place(list));
            } else {
                context.error(line.place(), "there is no %s%s", id, suffix);
            }
        }
    }

    /** Returns the split of each image, in the order in which they were added. */
    Map<String, Optional<Split>> splits() {
        return splits;
    }

    /** Warns of images that are listed more than once. */
    void reportRepeated() {
        repeated.asMap()
                .forEach(
                        (listed, images) ->
                                context.warning(
                                        listed.get(0),
                                        "%s here, such as %s, %s %s",
                                        Count.of(images.size(), "image"),
                                        images.iterator().next(),
                                        images.size() == 1 ? "is" : "are",
                                        listed.get(1)));
    }
}

package dev.saccade.datasets.convert.formats;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Multimaps;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.source.NearestPaths;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.TextFile;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Assigns images to splits by the lists and folders of a data set. The first split wins, as
 * training images cannot be validation images.
 */
final class SplitLists {

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final ConversionContext context;
    private final Map<String, Optional<Split>> splits = new LinkedHashMap<>();

    private final ListMultimap<List<String>, String> repeated =
            MultimapBuilder.linkedHashKeys().arrayListValues().build();

    SplitLists(ConversionContext context) {
        this.context = context;
    }

    /** Returns the split of each file in VOC's lists, or, without lists, the split by folder. */
    static Map<String, Optional<Split>> ofVoc(
            ConversionContext context,
            String sets,
            Collection<String> files,
            String suffix,
            String what,
            Function<String, Optional<Split>> otherwise) {
        SourceFolder folder = context.folder();
        ImmutableListMultimap<String, String> filesById =
                Multimaps.index(files, SourceFolder::baseName);
        SplitLists lists = new SplitLists(context);
        for (String list : folder.ending(".txt")) {
            String parent = SourceFolder.parent(list);
            boolean hasSplits = folder.has(parent + "train.txt") || folder.has(parent + "val.txt");
            Optional<Split> split =
                    SourceFolder.fileName(list).equals("trainval.txt") && !hasSplits
                            ? Optional.of(Split.TRAIN)
                            : Split.named(SourceFolder.baseName(list));
            if (("/" + list).contains("/" + sets) && split.isPresent()) {
                lists.read(list, split, nearest(list, filesById), suffix);
            }
        }
        lists.reportRepeated();
        int left = files.size() - lists.splits.size();
        if (lists.splits.isEmpty()) {
            files.forEach(file -> lists.add(file, otherwise.apply(file), ""));
        } else if (left > 0) {
            context.warning(
                    folder.toString(),
                    "%d of %d %s are not in any list of %s; skipped",
                    left,
                    files.size(),
                    what,
                    sets);
        }
        return lists.splits;
    }

    /** Returns for each id the file nearest to the list, since years of VOC repeat ids. */
    private static Map<String, String> nearest(
            String list, ImmutableListMultimap<String, String> filesById) {
        Map<String, String> files = new HashMap<>();
        filesById
                .asMap()
                .forEach(
                        (id, same) ->
                                SourceFolder.only(NearestPaths.nearest(list, same))
                                        .ifPresent(file -> files.put(id, file)));
        return files;
    }

    /** Adds an image; {@code place} is the list that contains it, for messages. */
    void add(String image, Optional<Split> split, String place) {
        Optional<Split> other = splits.putIfAbsent(image, split);
        if (other != null) {
            String message =
                    other.equals(split)
                            ? "listed twice; used once"
                            : Text.format(
                                    "also listed for %s; used for that split only",
                                    other.map(Split::key).orElse("another split"));
            repeated.put(List.of(place, message), image);
        }
    }

    /** Adds the files of a list, with an id per line and optional further words, as in VOC. */
    private void read(String list, Optional<Split> split, Map<String, String> byId, String suffix) {
        for (TextFile.Line line : context.lines(list)) {
            String text = line.text();
            String id = byId.containsKey(text) ? text : BLANKS.split(text, 2)[0];
            if (byId.containsKey(id)) {
                add(byId.get(id), split, context.place(list));
            } else {
                context.error(line.place(), "file %s%s does not exist", id, suffix);
            }
        }
    }

    Map<String, Optional<Split>> splits() {
        return splits;
    }

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

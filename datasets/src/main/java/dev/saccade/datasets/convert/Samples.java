package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableSet;

import dev.saccade.datasets.check.LabelFormat;

import java.util.List;
import java.util.Set;

/**
 * What some files of a folder look like.
 *
 * @param formats the names of the formats, as {@link LabelFormat} has them
 */
record Samples(Set<String> formats) {

    private static final int MOST_LOOKED_AT = 40;

    Samples {
        formats = ImmutableSet.copyOf(formats);
    }

    /** Looks at the beginnings of some files of each kind. */
    static Samples of(SourceFolder folder) {
        ImmutableSet.Builder<String> formats = ImmutableSet.builder();
        for (String ending : List.of(".yaml", ".yml", ".xml", ".json", ".txt")) {
            List<String> files = folder.ending(ending);
            int step = Math.max(1, files.size() / MOST_LOOKED_AT);
            for (int i = 0; i < files.size(); i += step) {
                LabelFormat.guess(folder.path(files.get(i))).ifPresent(formats::add);
            }
        }
        return new Samples(formats.build());
    }

    /** Returns whether a file of a format was among them. */
    boolean have(String format) {
        return formats.contains(format);
    }
}

package dev.saccade.datasets.convert;

import com.google.common.base.Splitter;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What photographs are for. */
public enum Part {
    /** To learn from. */
    TRAIN("train(ing)?", "training"),
    /** To measure on while learning. */
    VAL("val(id|idation)?", "validation"),
    /** To measure on at the end. */
    TEST("test(ing)?", "testing");

    /** A year, or what is in the folder. */
    private static final String BEHIND = "(_?set)?(\\d{4})?([_-](labels?|masks?|images?))?";

    private final Pattern folder;
    private final String ade20k;

    Part(String folder, String ade20k) {
        this.folder = Pattern.compile(folder + BEHIND);
        this.ade20k = ade20k;
    }

    /** Returns its name in lower case, as in {@code annotations_train.json}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns what the layout of ADE20K calls its folders. */
    String ade20k() {
        return ade20k;
    }

    /** Returns the part that a name means, such as {@code valid} or {@code train2017}. */
    static Optional<Part> named(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return Stream.of(values()).filter(part -> part.folder.matcher(lower).matches()).findFirst();
    }

    /** Returns the part that the first folder of a path that means one is of. */
    static Optional<Part> ofPath(String path) {
        int end = Math.max(0, path.lastIndexOf('/'));
        return Splitter.on('/')
                .splitToStream(path.substring(0, end))
                .map(Part::named)
                .flatMap(Optional::stream)
                .findFirst();
    }
}

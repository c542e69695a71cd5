package dev.saccade.datasets;

import com.google.common.base.Splitter;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

public enum Split {
    TRAIN("train(ing)?", "training"),
    VAL("val(id|idation)?", "validation"),
    TEST("test(ing)?", "testing");

    /** Optional end of a split name, such as {@code _set}, a year or {@code -images}. */
    private static final String SUFFIX = "(_?set)?(\\d{4})?([_-](labels?|masks?|images?))?";

    private final Pattern name;
    private final String longName;

    Split(String name, String longName) {
        this.name = Pattern.compile(name + SUFFIX);
        this.longName = longName;
    }

    /** Returns the name in lower case, as in {@code annotations_train.json}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the long name, such as "training"; it names folders in the layout of ADE20K. */
    public String longName() {
        return longName;
    }

    /** Returns the split with a name such as {@code valid} or {@code train2017}. */
    public static Optional<Split> named(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return Stream.of(values()).filter(split -> split.name.matcher(lower).matches()).findFirst();
    }

    /** Returns the split of the first folder in a path that is named like a split. */
    public static Optional<Split> ofPath(String path) {
        return Splitter.on('/')
                .splitToStream(path.substring(0, Math.max(0, path.lastIndexOf('/'))))
                .flatMap(folder -> named(folder).stream())
                .findFirst();
    }
}

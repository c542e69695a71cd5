package dev.saccade.datasets;

import com.google.common.base.CharMatcher;

import dev.saccade.core.Printable;
import dev.saccade.core.Problems;

import java.text.Normalizer;
import java.util.List;

public final class ClassName {

    private static final CharMatcher BLANK =
            CharMatcher.whitespace().or(CharMatcher.anyOf("\u00a0\u200b\ufeff"));

    private ClassName() {}

    /** Rejects names that cannot be names of folders, such as {@code ..}; reports all. */
    public static void requireFolderNames(List<String> classes, String place) {
        Problems problems = new Problems();
        classes.stream()
                .filter(name -> name.isBlank() || name.matches("\\.+|(?s).*[/\\\\\\p{Cntrl}:].*"))
                .forEach(
                        name ->
                                problems.add(
                                        "class \"%s\": cannot be the name of a folder; rename the"
                                                + " class",
                                        Printable.line(name)));
        problems.throwIfAny(place);
    }

    /** Strips blanks and composes characters (NFC), so that equal names are equal strings. */
    public static String of(String written) {
        return Normalizer.normalize(BLANK.trimFrom(written), Normalizer.Form.NFC);
    }
}

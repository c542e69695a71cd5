package dev.saccade.datasets.labels;

import com.google.common.base.CharMatcher;

import java.text.Normalizer;

public final class ClassName {

    private static final CharMatcher BLANK =
            CharMatcher.whitespace().or(CharMatcher.anyOf("\u00a0\u200b\ufeff"));

    private ClassName() {}

    /** Strips blanks and composes characters (NFC), so that equal names are equal strings. */
    public static String of(String written) {
        return Normalizer.normalize(BLANK.trimFrom(written), Normalizer.Form.NFC);
    }
}

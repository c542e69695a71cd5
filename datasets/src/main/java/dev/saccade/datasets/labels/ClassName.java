package dev.saccade.datasets.labels;

import com.google.common.base.CharMatcher;

import java.text.Normalizer;

/** Names of classes as labels write them. */
public final class ClassName {

    private static final CharMatcher BLANK =
            CharMatcher.whitespace().or(CharMatcher.anyOf("\u00a0\u200b\ufeff"));

    private ClassName() {}

    /**
     * Returns a name without surrounding blanks, in composed form (NFC), so that the same name
     * written in two ways is one class.
     */
    public static String of(String written) {
        return Normalizer.normalize(BLANK.trimFrom(written), Normalizer.Form.NFC);
    }
}

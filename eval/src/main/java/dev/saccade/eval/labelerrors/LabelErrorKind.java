package dev.saccade.eval.labelerrors;

import com.google.common.base.Ascii;

/** Kinds of suspected label errors. */
public enum LabelErrorKind {
    /** A confident detection has no label. */
    MISSING("missing label"),

    /** A confident detection of another class overlaps a label. */
    CLASS("wrong class"),

    /** A confident detection of the same class overlaps a label, but not well. */
    BOX("inaccurate box"),

    /** No detection supports a label. */
    SPURIOUS("spurious label");

    private final String title;

    LabelErrorKind(String title) {
        this.title = title;
    }

    /** Returns the name in lower case, as in files. */
    public String key() {
        return Ascii.toLowerCase(name());
    }

    public String title() {
        return title;
    }
}

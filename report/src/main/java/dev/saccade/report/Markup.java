package dev.saccade.report;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.html.HtmlEscapers;

import dev.saccade.core.Printable;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Writes well-formed HTML and SVG. Escapes untrusted text, including text direction controls. */
final class Markup {

    private final StringBuilder out = new StringBuilder();
    private final Deque<String> open = new ArrayDeque<>();

    /** Opens an element with attributes {@code name, value, name, value, ...}. */
    Markup open(String tag, String... attributes) {
        start(tag, attributes).append('>');
        open.push(tag);
        return this;
    }

    Markup close() {
        out.append("</").append(open.pop()).append('>');
        return this;
    }

    Markup leaf(String tag, String text, String... attributes) {
        return open(tag, attributes).text(text).close();
    }

    Markup empty(String tag, String... attributes) {
        start(tag, attributes).append("/>");
        return this;
    }

    /** Opens a table and writes its head. The caller writes the rows and closes three elements. */
    Markup openTable(String kind, List<String> heads) {
        open("div", "class", "scroll").open("table", "class", kind).open("thead").open("tr");
        heads.forEach(head -> leaf("th", head, "scope", "col"));
        return close().close().open("tbody");
    }

    Markup text(String text) {
        escape(text);
        return this;
    }

    /** Writes trusted content without escaping. */
    Markup verbatim(String trusted) {
        out.append(trusted);
        return this;
    }

    /** Returns the document; all elements must be closed. */
    @Override
    public String toString() {
        checkState(open.isEmpty(), "elements %s are not closed", open);
        return out.toString();
    }

    private StringBuilder start(String tag, String... attributes) {
        out.append('<').append(tag);
        for (int i = 0; i < attributes.length; i += 2) {
            out.append(' ').append(attributes[i]).append("=\"");
            escape(attributes[i + 1]);
            out.append('"');
        }
        return out;
    }

    private void escape(String text) {
        out.append(HtmlEscapers.htmlEscaper().escape(Printable.line(text)));
    }
}

package dev.saccade.report;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.html.HtmlEscapers;

import dev.saccade.core.Printable;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Writes HTML and SVG that are also well-formed XML.
 *
 * <p>Whatever is passed as text or as the value of an attribute is escaped; names of classes and
 * files may hold anything, also what turns the direction of the text around it.
 */
final class Markup {

    private final StringBuilder out = new StringBuilder();
    private final Deque<String> open = new ArrayDeque<>();

    /** Opens an element with attributes {@code name, value, name, value, ...}. */
    Markup open(String tag, String... attributes) {
        start(tag, attributes).append('>');
        open.push(tag);
        return this;
    }

    /** Closes the element opened last. */
    Markup close() {
        out.append("</").append(open.pop()).append('>');
        return this;
    }

    /** Writes an element that holds a text. */
    Markup leaf(String tag, String text, String... attributes) {
        return open(tag, attributes).text(text).close();
    }

    /** Writes an element that holds nothing. */
    Markup empty(String tag, String... attributes) {
        start(tag, attributes).append("/>");
        return this;
    }

    /** Opens a table with its head, up to the place of the rows. */
    Markup openTable(String kind, List<String> heads) {
        open("div", "class", "scroll").open("table", "class", kind).open("thead").open("tr");
        heads.forEach(head -> leaf("th", head, "scope", "col"));
        return close().close().open("tbody");
    }

    /** Writes a text. */
    Markup text(String text) {
        escape(text);
        return this;
    }

    /** Writes our own style sheet, script or document type as it is. */
    Markup verbatim(String trusted) {
        out.append(trusted);
        return this;
    }

    /** Returns what was written; every element must be closed. */
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

package dev.saccade.report;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.report.FactList.Fact;

import java.nio.file.Path;
import java.util.List;

/**
 * A report: one HTML file that loads nothing, follows the reader's light or dark theme, and prints.
 *
 * @param title such as the name of the run
 * @param subtitle one sentence about it
 * @param headline the main metrics, the most important first
 * @param sections from top to bottom; empty sections are left out
 */
public record Report(String title, String subtitle, List<Fact> headline, List<Section> sections) {

    /**
     * Writes the report completely or not at all; replaces a file or link of this name.
     *
     * @throws SaccadeException of kind {@code IO} if the file cannot be written, of kind user if
     *     there is no such folder
     */
    public void write(Path file) {
        AtomicFile.write(file, page());
    }

    private String page() {
        Markup out = new Markup();
        PageFrame.open(out, title, "data:", "report.css");
        out.open("header").leaf("h1", title).leaf("p", subtitle).close();
        writeHeadline(out);
        for (Section section : sections) {
            section.write(out);
        }
        PageFrame.close(out, "report.js");
        return out.toString();
    }

    private void writeHeadline(Markup out) {
        if (headline.isEmpty()) {
            return;
        }
        out.open("dl", "class", "headline");
        for (Fact fact : headline) {
            out.open("div").leaf("dt", fact.name()).leaf("dd", fact.value());
            if (!fact.note().isEmpty()) {
                out.leaf("dd", fact.note(), "class", "note");
            }
            out.close();
        }
        out.close();
    }

    /** Returns the style that gives an element a color, {@code 0xRRGGBB}. */
    static String style(int rgb) {
        return Text.format("--c:#%06x", rgb);
    }
}

package dev.saccade.report;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.Text;
import dev.saccade.report.FactList.Fact;

import java.nio.file.Path;
import java.util.List;

/** A self-contained HTML report. The headline has the most important metric first. */
public record Report(String title, String subtitle, List<Fact> headline, List<Section> sections) {

    /** Writes the file atomically. Throws a user error if the folder is missing. */
    public void write(Path file) {
        AtomicFile.write(file, page());
    }

    private String page() {
        Markup out = new Markup();
        PageFrame.open(out, title, "data:", "report.css");
        out.open("header").leaf("h1", title).leaf("p", subtitle).close();
        writeHeadline(out);
        writeContents(out);
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

    private void writeContents(Markup out) {
        List<Section> shown = sections.stream().filter(section -> !section.isEmpty()).toList();
        if (shown.size() < 3) {
            return;
        }
        out.open("nav", "class", "contents", "aria-label", "Contents");
        shown.forEach(section -> out.leaf("a", section.title(), "href", "#" + section.id()));
        out.close();
    }

    /** Returns the CSS declaration that sets the color {@code 0xRRGGBB} of an element. */
    static String style(int rgb) {
        return Text.format("--c:#%06x", rgb);
    }
}

package dev.saccade.report;

import com.google.common.base.Splitter;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.report.ReportData.Fact;

import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes the report of a run as one HTML file that loads nothing, follows the reader's light or
 * dark theme, and prints.
 */
public final class Report {

    private static final Pattern YAML_LINE =
            Pattern.compile(
                    "(?<indent>[ -]*)(?<key>[^\\s:#\"'][^:#]*:)?(?<value>.*?)(?<note>\\s#.*)?");

    private final Markup out = new Markup();
    private final ReportData data;

    private Report(ReportData data) {
        this.data = data;
    }

    /**
     * Writes a report, whole or not at all; a file or a link that has its name makes way.
     *
     * @throws SaccadeException of kind {@code IO} if the file cannot be written, of kind user if
     *     there is no such folder
     */
    public static void write(Path file, ReportData data) {
        String page;
        try {
            page = new Report(data).page();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: the report cannot be made (%s)", file, e);
        }
        AtomicFile.write(file, page);
    }

    private String page() throws IOException {
        PageFrame.open(out, data.header().title(), "data:", "report.css");
        headline();
        data.overview().forEach(this::section);
        examples();
        training();
        data.sections().forEach(this::section);
        dataSet();
        config();
        section(new Section("Environment", "", new FactList(data.setup().environment())));
        PageFrame.close(out, "report.js");
        return out.toString();
    }

    private void headline() {
        out.open("header")
                .leaf("h1", data.header().title())
                .leaf("p", data.header().subtitle())
                .close();
        if (data.header().headline().isEmpty()) {
            return;
        }
        out.open("dl", "class", "headline");
        for (Fact fact : data.header().headline()) {
            out.open("div").leaf("dt", fact.name()).leaf("dd", fact.value());
            if (!fact.note().isEmpty()) {
                out.leaf("dd", fact.note(), "class", "note");
            }
            out.close();
        }
        out.close();
    }

    private void examples() throws IOException {
        Examples examples = data.examples();
        if (examples.size() == 0) {
            return;
        }
        openSection("Validation images");
        ExampleWriter.write(out, examples);
        out.close();
    }

    private void training() {
        section(new Section("Training", "", new Charts(data.training())));
    }

    private void section(Section section) {
        if (section.blocks().isEmpty()) {
            return;
        }
        openSection(section.title());
        if (!section.lead().isEmpty()) {
            out.leaf("p", section.lead(), "class", "lead");
        }
        section.blocks().forEach(block -> block.write(out));
        out.close();
    }

    private void dataSet() {
        if (data.data().facts().isEmpty() && data.data().charts().isEmpty()) {
            return;
        }
        openSection("Data set");
        new FactList(data.data().facts()).write(out);
        out.open("div", "class", "charts small");
        data.data().charts().forEach(histogram -> HistogramWriter.write(out, histogram));
        out.close().close();
    }

    private void config() {
        if (data.setup().config().isBlank()) {
            return;
        }
        openSection("Config").open("pre").open("code");
        for (String line : Splitter.on('\n').split(data.setup().config().stripTrailing())) {
            Matcher parts = YAML_LINE.matcher(line);
            if (parts.matches()) {
                out.text(parts.group("indent"));
                if (parts.group("key") != null) {
                    out.leaf("b", parts.group("key"));
                }
                out.text(parts.group("value"));
                if (parts.group("note") != null) {
                    out.leaf("i", parts.group("note"));
                }
            } else {
                out.text(line);
            }
            out.verbatim("\n");
        }
        out.close().close().close();
    }

    /** Returns the style that gives an element a color, {@code 0xRRGGBB}. */
    static String style(int rgb) {
        return Text.format("--c:#%06x", rgb);
    }

    private Markup openSection(String title) {
        return out.open("section").leaf("h2", title);
    }
}

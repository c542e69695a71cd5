package dev.saccade.report;

import dev.saccade.core.Text;

import java.io.IOException;

/** Held-back pictures with what is on them and what was predicted, by one run or by several. */
public sealed interface Examples permits DetectionExamples, SegmentationExamples {

    /** Returns how many there are. */
    int size();

    /** Returns of how many held-back pictures they were chosen. */
    int all();

    /** Writes how to read the pictures, and the pictures. */
    void write(Markup out) throws IOException;

    /** Writes in which order they come, and how many are shown. */
    static void writeOrder(Markup out, Examples examples) {
        out.open("p", "class", "order").open("label").text("Order ").open("select");
        out.leaf("option", "worst first", "value", "worst");
        out.leaf("option", "best first", "value", "best");
        out.leaf("option", "by name", "value", "name");
        out.close().close().text(" ");
        String shown = Text.format("%d of %d shown", examples.size(), examples.all());
        String more = "; for all: ./saccade report RUN --examples " + examples.all();
        boolean whole = examples.size() == examples.all();
        out.leaf("span", whole ? shown : shown + more, "class", "note");
        out.close();
    }
}

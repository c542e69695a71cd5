package dev.saccade.report;

import dev.saccade.core.Text;

import java.io.IOException;

/** Held-back pictures with what is on them and what was predicted, by one run or by several. */
public sealed interface Examples permits DetectionExamples, SegmentationExamples {

    /** How to enlarge pictures. */
    String ZOOM =
            "Click a picture to enlarge it; the arrow keys switch between ground truth and"
                    + " prediction.";

    /** Returns how many there are. */
    int size();

    /** Returns of how many held-back pictures they were chosen. */
    int all();

    /** Writes how to read the pictures, and the pictures. */
    void write(Markup out) throws IOException;

    /** Writes the sort order and the number of images. */
    static void writeOrder(Markup out, Examples examples) {
        out.open("p", "class", "order").open("label").text("Sort by ").open("select");
        out.leaf("option", "worst result", "value", "worst");
        out.leaf("option", "best result", "value", "best");
        out.leaf("option", "file name", "value", "name");
        out.close().close().text(" ");
        String shown = Text.format("%d of %d images", examples.size(), examples.all());
        String more = "; show all: ./saccade report RUN --examples " + examples.all();
        boolean whole = examples.size() == examples.all();
        out.leaf("span", whole ? shown : shown + more, "class", "note");
        out.close();
    }
}

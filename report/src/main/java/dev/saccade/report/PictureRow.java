package dev.saccade.report;

import java.util.List;

/**
 * The labels of a photograph and what each run has predicted for it, side by side; below one
 * another on narrow screens.
 *
 * @param runs their names, told where there are several
 */
record PictureRow(Markup out, List<String> runs) {

    /** Opens the row, and the place of the labels in it. */
    void open() {
        String columns = "--columns:" + (1 + runs.size());
        out.open("div", "class", "pair", "style", columns).open("div", "class", "view");
    }

    /** Writes the name of the photograph under its labels. */
    void closeTruth(String name) {
        out.leaf("span", name, "class", "name").close();
    }

    /** Opens the place of what a run has predicted. */
    void openFound() {
        out.open("div", "class", "view");
    }

    /** Writes how well it agrees with the labels. */
    void closeFound(int run, String tally) {
        if (runs.size() > 1) {
            out.leaf("span", runs.get(run), "class", "run").text(" ");
        }
        out.leaf("span", tally, "class", "tally").close();
    }

    /** Closes the row. */
    void close() {
        out.close();
    }
}

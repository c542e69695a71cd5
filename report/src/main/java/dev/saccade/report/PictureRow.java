package dev.saccade.report;

import java.util.List;

/**
 * The ground truth of an image and the predictions of each run, side by side; stacked on narrow
 * screens. The script enlarges a picture when its button is pressed.
 *
 * @param runs the names of the runs, shown if there are several
 */
record PictureRow(Markup out, List<String> runs) {

    /** Opens the row and the view of the ground truth. */
    void open() {
        String columns = "--columns:" + (1 + runs.size());
        out.open("div", "class", "pair", "style", columns);
        openView();
    }

    /** Closes the view of the ground truth, with the name of the image below. */
    void closeTruth(String name) {
        out.close().leaf("span", name, "class", "name").close();
    }

    /** Opens the view of the predictions of one run. */
    void openView() {
        out.open("div", "class", "view");
        out.open("button", "class", "zoom", "type", "button", "title", "Enlarge");
    }

    /** Closes the view of predictions, with a summary of their errors below. */
    void closePredictions(int run, String tally) {
        out.close();
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

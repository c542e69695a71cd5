package dev.saccade.report;

import java.util.List;

/**
 * Charts beside one another.
 *
 * @param charts from left to right, and on in the next line
 */
public record Charts(List<LineChart> charts) implements Block {

    @Override
    public boolean isEmpty() {
        return charts.isEmpty();
    }

    @Override
    public void write(Markup out) {
        out.open("div", "class", "charts");
        charts.forEach(chart -> LineChartWriter.write(out, chart));
        out.close();
    }
}

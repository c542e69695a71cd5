package dev.saccade.report;

import java.util.List;

/** Charts side by side. */
public record Charts(List<Block> charts) implements Block {

    public Charts {
        charts = List.copyOf(charts);
    }

    public static Charts of(List<LineChart> charts) {
        return new Charts(List.copyOf(charts));
    }

    @Override
    public boolean isEmpty() {
        return charts.isEmpty();
    }

    @Override
    public void write(Markup out) {
        boolean small = charts.stream().allMatch(Histogram.class::isInstance);
        out.open("div", "class", small ? "charts small" : "charts");
        charts.forEach(chart -> chart.write(out));
        out.close();
    }
}

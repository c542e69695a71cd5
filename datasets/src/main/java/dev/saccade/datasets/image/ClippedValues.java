package dev.saccade.datasets.image;

import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.List;

/** Counts stored values that a {@link PixelFormat} changes: NaN, and values outside its range. */
final class ClippedValues {

    private static final double PERCENT = 100;

    /** Percentage of clipped values that is not reported, such as of bright reflections. */
    private static final double MAX_CLIPPED = 5;

    private final PixelFormat format;
    private long values;
    private long nan;
    private long clipped;

    ClippedValues(PixelFormat format) {
        this.format = format;
    }

    void add(Raster raster, ValueMapping mapping) {
        SampleType type = raster.type();
        int limit = raster.samples().limit();
        values += limit / type.bytes();
        if (mapping.coversType()) {
            return;
        }
        for (int at = 0; at < limit; at += type.bytes()) {
            double value = type.read(raster.samples(), at);
            nan += Double.isNaN(value) ? 1 : 0;
            clipped += mapping.clips(value) ? 1 : 0;
        }
    }

    List<String> warnings() {
        double percent = PERCENT / (double) values;
        double outside = percent * (double) clipped;
        List<String> warnings = new ArrayList<>();
        if (nan > 0) {
            double nans = percent * (double) nan;
            warnings.add(Text.format("%.1f %% of its values are NaN, which becomes 0", nans));
        }
        if (outside > MAX_CLIPPED) {
            warnings.add(
                    Text.format(
                            "%.1f %% of its values are outside of data.range %s and are clipped;"
                                    + " correct data.range",
                            outside, format.range()));
        }
        return warnings;
    }
}

package dev.saccade.datasets.image;

import com.google.common.base.Ascii;

import dev.saccade.core.SaccadeException;

import java.nio.ByteBuffer;
import java.util.List;

/** Maps stored values to 0..255. */
final class ValueMapping {

    static final double WHITE = 255;

    private final SampleType type;
    private final double low;
    private final double high;
    private final double factor;
    private final float[] table;

    ValueMapping(PixelFormat format, SampleType type, String name) {
        this.type = type;
        List<Double> range = format.range();
        if (range.isEmpty() && type != SampleType.UINT8) {
            throw SaccadeException.user(
                    "%s: has values of type %s; set data.range to the values of black and"
                            + " white, such as [0, 4095] for 12 bits",
                    name, Ascii.toLowerCase(type.name()));
        }
        low = range.isEmpty() ? 0 : range.get(0);
        high = range.isEmpty() ? WHITE : range.get(1);
        factor = WHITE / (high - low);
        boolean isSmall = type == SampleType.UINT8 || type == SampleType.UINT16;
        table = new float[isSmall ? 1 << (type.bytes() * Byte.SIZE) : 0];
        for (int i = 0; i < table.length; i++) {
            table[i] = scale(i);
        }
    }

    private float scale(double value) {
        double scaled = (value - low) * factor;
        // NaN is not above 0.
        return scaled > 0 ? (float) Math.min(scaled, WHITE) : 0;
    }

    double low() {
        return low;
    }

    double factor() {
        return factor;
    }

    /** Returns whether no stored value can be clipped or NaN, such as of 8 bits without a range. */
    boolean coversType() {
        return table.length > 0 && !clips(0) && !clips(table.length - 1);
    }

    /** Returns whether a stored value is clipped; false for NaN. */
    boolean clips(double value) {
        return value < low || value > high;
    }

    float read(ByteBuffer samples, int at) {
        return switch (type) {
            case UINT8 -> table[Byte.toUnsignedInt(samples.get(at))];
            case UINT16 -> table[Short.toUnsignedInt(samples.getShort(at))];
            default -> scale(type.read(samples, at));
        };
    }
}

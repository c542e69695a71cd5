package dev.saccade.datasets.convert.formats;

import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.source.JsonValue;
import dev.saccade.datasets.labels.BrushRle;

import java.util.List;

/** A labeled region of a Label Studio result, in percent of the image. */
final class LabelStudioRegion {

    /** Maximum pixels of a brush mask, as for CVAT. */
    private static final long MAX_PIXELS = 1 << 28;

    private final JsonValue region;
    private final JsonValue value;
    private final int width;
    private final int height;

    LabelStudioRegion(JsonValue region) {
        this.region = region;
        this.value = region.get("value");
        this.width = side("original_width");
        this.height = side("original_height");
    }

    private int side(String key) {
        return Ints.saturatedCast(Math.round(region.get(key).number()));
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    List<String> labels() {
        return value.get(region.get("type").text()).entries().stream()
                .map(JsonValue::text)
                .toList();
    }

    /** Returns the shape in pixels; throws if it is invalid. */
    Outline outline() {
        if (width < 1 || height < 1) {
            throw SaccadeException.user(
                    "region has no original_width and original_height; export the project again");
        }
        double rotated = region.get("image_rotation").number();
        if (rotated != 0 && !Double.isNaN(rotated)) {
            throw SaccadeException.user(
                    "the image is rotated by %s degrees in Label Studio; rotate the image file"
                            + " instead",
                    rotated);
        }
        if (!value.get("rle").isMissing()) {
            return mask();
        } else if (!value.get("points").isMissing()) {
            return polygon();
        } else if (!value.get("radiusX").isMissing()) {
            double x = x("x");
            double y = y("y");
            return Outline.Ring.ofEllipse(x, y, x("radiusX"), y("radiusY"))
                    .rotated(rotation(), x, y);
        }
        double left = x("x");
        double top = y("y");
        Outline.Box box = new Outline.Box(left, top, left + x("width"), top + y("height"));
        double degrees = rotation();
        // Label Studio rotates boxes around their first corner.
        return degrees == 0 ? box : new Outline.Ring(box.points()).rotated(degrees, left, top);
    }

    private double rotation() {
        return value.get("rotation").isMissing() ? 0 : number("rotation");
    }

    private double x(String key) {
        return number(key) * width / 100;
    }

    private double y(String key) {
        return number(key) * height / 100;
    }

    private double number(String key) {
        double number = value.get(key).number();
        // Also excludes ellipses of too many corners.
        if (!(Math.abs(number) <= 100_000)) {
            throw SaccadeException.user("%s: got %s, expected percent of the image", key, number);
        }
        return number;
    }

    private Outline polygon() {
        List<JsonValue> points = value.get("points").entries();
        double[] ring = new double[2 * points.size()];
        for (int i = 0; i < points.size(); i++) {
            List<JsonValue> point = points.get(i).entries();
            if (point.size() != 2 || !isFinite(point.get(0)) || !isFinite(point.get(1))) {
                throw SaccadeException.user("points: expected pairs of numbers");
            }
            ring[2 * i] = point.get(0).number() * width / 100;
            ring[2 * i + 1] = point.get(1).number() * height / 100;
        }
        return new Outline.Ring(ring);
    }

    private static boolean isFinite(JsonValue value) {
        return Double.isFinite(value.number());
    }

    private Outline mask() {
        if ((long) width * height > MAX_PIXELS) {
            throw SaccadeException.user(
                    "got a mask of %d by %d pixels, expected at most %d pixels",
                    width, height, MAX_PIXELS);
        }
        List<JsonValue> numbers = value.get("rle").entries();
        byte[] rle = new byte[numbers.size()];
        for (int i = 0; i < rle.length; i++) {
            double number = numbers.get(i).number();
            if (!(number >= 0 && number <= 255)) {
                throw SaccadeException.user("rle: got %s, expected numbers from 0 to 255", number);
            }
            rle[i] = (byte) (int) number;
        }
        return new Outline.Bitmap(0, 0, BrushRle.decode(rle, new Size(height, width)));
    }
}

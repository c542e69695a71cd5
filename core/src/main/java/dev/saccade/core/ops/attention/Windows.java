package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Window partition of token maps (Liu et al. 2021): zero-pads {@code [N, H, W, C]} at the bottom
 * and right, shifts it cyclically to the top left, and splits it into windows.
 */
public record Windows(int height, int width, int shiftY, int shiftX, Order order) {

    /** Order of padding and shift, which matters if both occur. */
    public enum Order {
        /** The order in Swin's official detection and segmentation code. */
        PAD_THEN_SHIFT,
        /** The order in timm. */
        SHIFT_THEN_PAD
    }

    /**
     * Crops to the size of the empty array {@code like}, as a script with constants would be
     * compiled for each size. DJL's {@code get} omits slices that keep everything, so traced
     * operators would depend on the size.
     */
    private static final Script CROP =
            Script.compile(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    rows = torch.slice(x, 1, 0, torch.size(like, 0))
                    return torch.slice(rows, 2, 0, torch.size(like, 1))
                    """);

    private static final ScriptTemplate MASK = ScriptTemplate.read(Windows.class, "mask");

    /** Creates square windows that are padded before the shift. */
    public Windows(int size, int shift) {
        this(size, size, shift, shift, Order.PAD_THEN_SHIFT);
    }

    /**
     * Returns the windows for a map. With {@link Order#SHIFT_THEN_PAD}, windows are at most as
     * large as the map and shifted only along axes with more than one window.
     */
    public static Windows over(Shape map, int size, int shift, Order order) {
        if (order == Order.PAD_THEN_SHIFT) {
            return new Windows(size, shift);
        }
        return new Windows(
                (int) Math.min(size, map.get(1)),
                (int) Math.min(size, map.get(2)),
                map.get(1) <= size ? 0 : shift,
                map.get(2) <= size ? 0 : shift,
                order);
    }

    public int area() {
        return height * width;
    }

    public boolean isShifted() {
        return shiftY > 0 || shiftX > 0;
    }

    private static long rows(Shape map, int windowHeight) {
        return (map.get(1) + windowHeight - 1) / windowHeight;
    }

    private static long columns(Shape map, int windowWidth) {
        return (map.get(2) + windowWidth - 1) / windowWidth;
    }

    private boolean isPadded(Shape map) {
        return Tracer.isRecording() || map.get(1) % height != 0 || map.get(2) % width != 0;
    }

    /** Returns the number of tokens of a map {@code [N, H, W, ...]}, including padding. */
    long tokens(Shape map) {
        return map.get(0) * rows(map, height) * columns(map, width) * area();
    }

    /** Pads {@code [N, H, W, C]} to multiples of the window size and shifts it, if necessary. */
    public NDArray arrange(NDArray map) {
        boolean pads = isPadded(map.getShape());
        if (pads && isShifted()) {
            return order == Order.PAD_THEN_SHIFT
                    ? roll(pad(map), -shiftY, -shiftX)
                    : pad(roll(map, -shiftY, -shiftX));
        }
        return pads ? pad(map) : isShifted() ? roll(map, -shiftY, -shiftX) : map;
    }

    private NDArray pad(NDArray map) {
        Shape shape = map.getShape();
        long below = rows(shape, height) * height - shape.get(1);
        long right = columns(shape, width) * width - shape.get(2);
        return map.pad(new Shape(0, 0, 0, right, 0, below), 0);
    }

    private static NDArray roll(NDArray map, int down, int right) {
        return Functional.roll(map, List.of(down, right), List.of(1, 2));
    }

    /**
     * Splits {@code [N, H', W', parts * heads * d]} into parts {@code [N, windows, heads, area,
     * d]}.
     */
    public List<NDArray> split(NDArray map, int parts, int heads) {
        Shape shape = map.getShape();
        long n = shape.get(0);
        long rows = rows(shape, height);
        long columns = columns(shape, width);
        long d = shape.get(3) / parts / heads;
        NDArray all =
                map.reshape(n, rows, height, columns, width, parts, heads, d)
                        .transpose(5, 0, 1, 3, 6, 2, 4, 7)
                        .reshape(parts, n, rows * columns, heads, area(), d);
        return IntStream.range(0, parts).mapToObj(i -> all.get(i)).toList();
    }

    /**
     * Undoes {@link #split} and {@link #arrange}.
     *
     * @param windows {@code [N, windows, heads, area, d]}
     * @param map shape {@code [N, H, W, ...]} before {@link #arrange}
     * @return {@code [N, H, W, heads * d]}
     */
    public NDArray merge(NDArray windows, Shape map) {
        long rows = rows(map, height);
        long columns = columns(map, width);
        long heads = windows.getShape().get(2);
        long d = windows.getShape().get(4);
        NDArray cells =
                windows.reshape(map.get(0), rows, columns, heads, height, width, d)
                        .transpose(0, 1, 4, 2, 5, 3, 6)
                        .reshape(map.get(0), rows * height, columns * width, heads * d);
        return restore(cells, map);
    }

    /** Undoes {@link #arrange}; {@code map} is the shape of its input. */
    public NDArray restore(NDArray arranged, Shape map) {
        if (order == Order.PAD_THEN_SHIFT) {
            return crop(isShifted() ? roll(arranged, shiftY, shiftX) : arranged, map);
        }
        NDArray cropped = crop(arranged, map);
        return isShifted() ? roll(cropped, shiftY, shiftX) : cropped;
    }

    private NDArray crop(NDArray arranged, Shape map) {
        return isPadded(map)
                ? CROP.run(arranged, arranged.getManager().create(map.slice(1, 3).add(0)))
                : arranged;
    }

    /**
     * Returns the mask of keys that a cyclic shift moved from the other side of the map: {@code
     * [windows, 1, area, area]}, with {@code unseen} for masked keys, else 0.
     */
    public NDArray mask(NDArray arranged, float unseen) {
        return MASK.with(
                        Map.of(
                                "height", height,
                                "width", width,
                                "shift_y", shiftY,
                                "shift_x", shiftX,
                                "unseen", unseen))
                .run(arranged);
    }
}

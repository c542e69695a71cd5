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
 * Windows over token maps (Liu et al. 2021): a map {@code [N, H, W, C]} is padded with zeros at the
 * bottom and right to whole windows, shifted cyclically to the top left, and cut.
 *
 * @param height rows of a window
 * @param width columns of a window
 * @param shiftY rows of the shift, less than {@code height}
 * @param shiftX columns of the shift, less than {@code width}
 * @param order what comes first
 */
public record Windows(int height, int width, int shiftY, int shiftX, Order order) {

    /** Whether the padding or the shift comes first; it matters where there is both. */
    public enum Order {
        /** As in the official detection and segmentation code. */
        PAD_THEN_SHIFT,
        /** As in timm. */
        SHIFT_THEN_PAD
    }

    /**
     * An index would leave out a slice that keeps all, so that operators depended on the size; the
     * size is that of an empty array, as each number would be a script of its own.
     */
    private static final Script CROP =
            Script.compile(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    rows = torch.slice(x, 1, 0, torch.size(like, 0))
                    return torch.slice(rows, 2, 0, torch.size(like, 1))
                    """);

    private static final ScriptTemplate MASK = ScriptTemplate.read(Windows.class, "mask");

    /** Square windows, padded before they are shifted. */
    public Windows(int size, int shift) {
        this(size, size, shift, shift, Order.PAD_THEN_SHIFT);
    }

    /**
     * Returns the windows over a map of some shape: padded before they are shifted, of this size;
     * after, no larger than the map and shifted only along axes of more than one window.
     *
     * @param map {@code [N, H, W, ...]}
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

    /** Returns the number of tokens of a window. */
    public int area() {
        return height * width;
    }

    /** Returns whether windows are shifted along an axis. */
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

    /** Returns the number of tokens of a map {@code [N, H, W, ...]} and of its padding. */
    long tokens(Shape map) {
        return map.get(0) * rows(map, height) * columns(map, width) * area();
    }

    /**
     * Pads and shifts.
     *
     * @param map {@code [N, H, W, C]}
     * @return {@code [N, H', W', C]}, {@code H'} and {@code W'} whole multiples of the window; the
     *     map itself where there is nothing to do
     */
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
     * Cuts an arranged map into windows and its channels into parts and heads.
     *
     * @param map {@code [N, H', W', parts * heads * d]}
     * @return for each part {@code [N, windows, heads, area, d]}; windows and tokens row-major
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
     * Puts windows back in their places: undoes {@link #split}, the shift and the padding.
     *
     * @param windows {@code [N, windows, heads, area, d]}
     * @param map the shape {@code [N, H, W, ...]} of the map before it was arranged
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

    /**
     * Undoes {@link #arrange}: the shift and the padding.
     *
     * @param arranged {@code [N, H', W', C]}
     * @param map the shape {@code [N, H, W, ...]} of the map before it was arranged
     * @return {@code [N, H, W, C]}
     */
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
     * Returns which keys a query sees: those of its own region, which the shift did not bring
     * beside it from the other side of the map.
     *
     * @param arranged the arranged map
     * @return {@code [windows, 1, area, area]}: 0 for a key that is seen, {@code unseen} for one
     *     that is not
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

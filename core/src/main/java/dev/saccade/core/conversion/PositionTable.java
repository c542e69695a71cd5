package dev.saccade.core.conversion;

/**
 * Learned position embedding that is interpolated when the grid size differs. Its shape is {@code
 * [positions, C]}, {@code [C, positions]}, {@code [1, positions, C]} or {@code [1, C, H, W]}.
 *
 * @param name parameter names
 * @param positionsLast whether a table with two axes is {@code [C, positions]}
 */
public record PositionTable(NamePattern name, Method method, boolean positionsLast) {

    /** Methods of {@code torch.nn.functional.interpolate}. */
    public enum Method {
        BICUBIC,
        BILINEAR
    }

    /** Creates a table to resize bicubically; with two axes, it is {@code [positions, C]}. */
    public static PositionTable bicubic(String name) {
        return new PositionTable(new NamePattern(name), Method.BICUBIC, false);
    }

    /** Creates a table to resize bilinearly; with two axes, it is {@code [positions, C]}. */
    public static PositionTable bilinear(String name) {
        return new PositionTable(new NamePattern(name), Method.BILINEAR, false);
    }

    public PositionTable withPositionsLast() {
        return new PositionTable(name, method, true);
    }
}

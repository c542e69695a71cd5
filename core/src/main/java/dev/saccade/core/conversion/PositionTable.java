package dev.saccade.core.conversion;

/**
 * A learned table of positions that is interpolated where it was made for a grid of another size:
 * {@code [positions, C]}, {@code [C, positions]}, {@code [1, positions, C]} or {@code [1, C, H,
 * W]}.
 *
 * @param name the names of such parameters
 * @param method how the grid is interpolated
 * @param positionsLast whether a table of two axes is {@code [C, positions]}
 */
public record PositionTable(NamePattern name, Method method, boolean positionsLast) {

    /** The methods of {@code torch.nn.functional.interpolate} that loaders use. */
    public enum Method {
        /** Over 16 neighbors. */
        BICUBIC,
        /** Over 4 neighbors. */
        BILINEAR
    }

    /** Returns a table that is resized bicubically, and begins with its positions. */
    public static PositionTable bicubic(String name) {
        return new PositionTable(new NamePattern(name), Method.BICUBIC, false);
    }

    /** Returns a table that is resized bilinearly, and begins with its positions. */
    public static PositionTable bilinear(String name) {
        return new PositionTable(new NamePattern(name), Method.BILINEAR, false);
    }

    /** Returns the same, with the positions behind the channels. */
    public PositionTable withPositionsLast() {
        return new PositionTable(name, method, true);
    }
}

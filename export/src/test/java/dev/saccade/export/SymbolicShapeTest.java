package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.export.Graph.Value;
import dev.saccade.export.SizeExpression.SizeOf;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

class SymbolicShapeTest {

    private static final long[] HEIGHTS = {214, 97, 131, 180, 333};
    private static final long[] WIDTHS = {149, 236, 85, 301, 77};

    private final Value images = new Value(0, "Float", ImmutableList.of(1L, 3L, -1L, -1L));
    private final SymbolicShape shapes = new SymbolicShape(HEIGHTS.length);

    SymbolicShapeTest() {
        shapes.define(
                images,
                IntStream.range(0, HEIGHTS.length)
                        .mapToObj(i -> ImmutableList.of(1L, 3L, HEIGHTS[i], WIDTHS[i]))
                        .toList());
    }

    private static long[] each(LongUnaryOperator rule) {
        return Arrays.stream(HEIGHTS).map(rule).toArray();
    }

    private Optional<SizeExpression> find(long... numbers) {
        return shapes.find(ImmutableLongArray.copyOf(numbers), List.of());
    }

    @Test
    void expressesNumbersBySizes() {
        SizeOf height = new SizeOf(images, 2);
        assertEquals(Optional.of(SizeExpression.linear(height, 1, 0)), find(HEIGHTS));
        assertEquals(
                Optional.of(SizeExpression.linear(height, 1, -1)), find(each(size -> size - 1)));
        assertEquals(
                Optional.of(SizeExpression.linear(height, 9, 0)), find(each(size -> 9 * size)));
        assertEquals(
                Optional.of(SizeExpression.quotient(height, 3, 4)),
                find(each(size -> (size + 3) / 4)));
        assertEquals(
                Optional.of(SizeExpression.quotient(height, 0, 7)), find(each(size -> size / 7)));
        assertEquals(
                Optional.of(SizeExpression.padding(height, 7)),
                find(each(size -> Math.floorMod(-size, 7))));
        ImmutableList<SizeOf> both = ImmutableList.of(height, new SizeOf(images, 3));
        long[] areas = IntStream.range(0, 5).mapToLong(i -> 3 * HEIGHTS[i] * WIDTHS[i]).toArray();
        assertEquals(Optional.of(new SizeExpression(both, 3, 0, 1, false)), find(areas));
    }

    @Test
    void prefersExactRatios() {
        // A sixth, rounded down, holds for these, too.
        Value windows = new Value(1, "Float", ImmutableList.of(-1L));
        shapes.define(
                windows,
                LongStream.of(7, 14, 21, 14, 7).mapToObj(size -> ImmutableList.of(size)).toList());
        assertEquals(
                Optional.of(SizeExpression.quotient(new SizeOf(windows, 0), 0, 7)),
                find(1, 2, 3, 2, 1));
    }

    @Test
    void isEmptyWithoutARule() {
        assertEquals(Optional.empty(), find(10_000, 3, 77_777, 12, 900_001));
    }
}

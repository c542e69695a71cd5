package dev.saccade.export;

import com.google.common.collect.ImmutableList;

import dev.saccade.export.Graph.Value;

import java.util.function.UnaryOperator;

/**
 * A number that depends on the sizes of tensors, such as the number of windows of a map: {@code
 * floor((factor * product of sizes + summand) / divisor)}.
 *
 * @param sizes one or two
 * @param isRemainder whether the number is the remainder of the division, such as the padding to a
 *     multiple
 */
public record SizeExpression(
        ImmutableList<SizeOf> sizes, long factor, long summand, long divisor, boolean isRemainder) {

    /** The size of a tensor along an axis. */
    public record SizeOf(Value value, int axis) {}

    /** Returns {@code factor * size + summand}. */
    static SizeExpression linear(SizeOf size, long factor, long summand) {
        return new SizeExpression(ImmutableList.of(size), factor, summand, 1, false);
    }

    /** Returns {@code floor((size + summand) / divisor)}. */
    static SizeExpression quotient(SizeOf size, long summand, long divisor) {
        return new SizeExpression(ImmutableList.of(size), 1, summand, divisor, false);
    }

    /** Returns {@code (-size) mod divisor}. */
    static SizeExpression padding(SizeOf size, long divisor) {
        return new SizeExpression(ImmutableList.of(size), -1, 0, divisor, true);
    }

    /** Returns the number for a product of sizes. */
    long evaluate(long product) {
        long dividend = factor * product + summand;
        return isRemainder ? Math.floorMod(dividend, divisor) : Math.floorDiv(dividend, divisor);
    }

    /** Returns the same number of other tensors. */
    SizeExpression map(UnaryOperator<Value> change) {
        ImmutableList<SizeOf> changed =
                sizes.stream()
                        .map(size -> new SizeOf(change.apply(size.value), size.axis))
                        .collect(ImmutableList.toImmutableList());
        return new SizeExpression(changed, factor, summand, divisor, isRemainder);
    }
}

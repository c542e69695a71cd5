package dev.saccade.export;

import com.google.common.collect.ImmutableList;

import dev.saccade.export.Graph.Value;

import java.util.function.UnaryOperator;

/**
 * An integer that depends on tensor sizes, such as the number of windows: {@code floor((factor *
 * product of sizes + summand) / divisor)}.
 *
 * @param sizes one or two sizes
 * @param isRemainder whether to return the remainder instead, such as the padding to a multiple
 */
public record SizeExpression(
        ImmutableList<SizeOf> sizes, long factor, long summand, long divisor, boolean isRemainder) {

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

    long evaluate(long product) {
        long dividend = factor * product + summand;
        return isRemainder ? Math.floorMod(dividend, divisor) : Math.floorDiv(dividend, divisor);
    }

    SizeExpression map(UnaryOperator<Value> change) {
        ImmutableList<SizeOf> changed =
                sizes.stream()
                        .map(size -> new SizeOf(change.apply(size.value), size.axis))
                        .collect(ImmutableList.toImmutableList());
        return new SizeExpression(changed, factor, summand, divisor, isRemainder);
    }
}

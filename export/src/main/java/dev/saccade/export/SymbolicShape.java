package dev.saccade.export;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.export.Graph.Value;
import dev.saccade.export.SizeExpression.SizeOf;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Infers from examples how integers depend on tensor sizes: the size of an axis, a multiple or
 * fraction of it plus an offset, the padding to a multiple, or a product of two sizes. If several
 * rules hold for all examples, prefers the simplest rule, and then the size that was defined first.
 */
final class SymbolicShape {

    private static final long MAX_FACTOR = 4096;
    private static final long MAX_DIVISOR = 256;
    private static final long MAX_PARTS = 4;

    private final int examples;

    /** Sizes that differ between examples, keyed by their values, one per example. */
    private final Map<ImmutableLongArray, SizeOf> known = new LinkedHashMap<>();

    /** Returns the expression for a size and a divisor; null if impossible. */
    private interface Rule {
        SizeExpression of(SizeOf size, ImmutableLongArray sizes, long divisor);
    }

    SymbolicShape(int examples) {
        this.examples = examples;
    }

    /** Adds the sizes of a value in each example. */
    void define(Value value, List<ImmutableList<Long>> sizes) {
        for (int axis = 0; axis < sizes.get(0).size(); axis++) {
            ImmutableLongArray each = along(axis, sizes);
            if (each.stream().distinct().count() > 1) {
                known.putIfAbsent(each, new SizeOf(value, axis));
            }
        }
    }

    private static ImmutableLongArray along(int axis, List<ImmutableList<Long>> sizes) {
        return ImmutableLongArray.copyOf(sizes.stream().mapToLong(each -> each.get(axis)));
    }

    /**
     * Returns an expression of tensor sizes that equals {@code numbers.get(i)} in each example i;
     * empty if none is found. Sizes of {@code near} values are tried first.
     */
    Optional<SizeExpression> find(ImmutableLongArray numbers, List<List<Value>> near) {
        Map<ImmutableLongArray, SizeOf> first = new LinkedHashMap<>();
        for (List<Value> value : near) {
            List<ImmutableList<Long>> sizes = value.stream().map(Value::sizes).toList();
            for (int axis = 0; axis < sizes.get(0).size(); axis++) {
                ImmutableLongArray each = along(axis, sizes);
                if (known.containsKey(each)) {
                    first.put(each, known.get(each));
                }
            }
        }
        return Optional.ofNullable(known.get(numbers))
                .map(size -> SizeExpression.linear(size, 1, 0))
                .or(() -> rule(first, numbers))
                .or(() -> rule(known, numbers))
                .or(() -> product(numbers));
    }

    private Optional<SizeExpression> rule(
            Map<ImmutableLongArray, SizeOf> from, ImmutableLongArray to) {
        long aboveAll = 1 + to.stream().max().orElse(0);
        // Tried before other offsets, as models usually round down or up.
        Rule rounded = (size, sizes, divisor) -> quotient(size, sizes, to, divisor, true);
        Rule shifted = (size, sizes, divisor) -> quotient(size, sizes, to, divisor, false);
        Rule padding = (size, sizes, divisor) -> SizeExpression.padding(size, divisor);
        return any(from, to, 1, 1, (size, sizes, one) -> linear(size, sizes, to))
                .or(() -> any(from, to, 1, 1, (size, sizes, one) -> ratio(size, sizes, to)))
                .or(() -> any(from, to, 2, MAX_DIVISOR, rounded))
                .or(() -> any(from, to, Math.max(2, aboveAll), MAX_DIVISOR, padding))
                .or(() -> any(from, to, 2, MAX_DIVISOR, shifted));
    }

    /** Returns the first expression that holds for all examples, smallest divisor first. */
    private Optional<SizeExpression> any(
            Map<ImmutableLongArray, SizeOf> from,
            ImmutableLongArray to,
            long least,
            long most,
            Rule rule) {
        for (long divisor = least; divisor <= most; divisor++) {
            for (Map.Entry<ImmutableLongArray, SizeOf> size : from.entrySet()) {
                SizeExpression found = rule.of(size.getValue(), size.getKey(), divisor);
                if (found != null && holds(found, size.getKey(), to)) {
                    return Optional.of(found);
                }
            }
        }
        return Optional.empty();
    }

    private boolean holds(
            SizeExpression expression, ImmutableLongArray sizes, ImmutableLongArray numbers) {
        return IntStream.range(0, examples)
                .allMatch(i -> expression.evaluate(sizes.get(i)) == numbers.get(i));
    }

    private static SizeExpression linear(
            SizeOf size, ImmutableLongArray sizes, ImmutableLongArray to) {
        int other = 1;
        while (sizes.get(other) == sizes.get(0)) {
            other++;
        }
        long factor = (to.get(other) - to.get(0)) / (sizes.get(other) - sizes.get(0));
        return factor == 0 || Math.abs(factor) > MAX_FACTOR
                ? null
                : SizeExpression.linear(size, factor, to.get(0) - factor * sizes.get(0));
    }

    /**
     * Returns the exact ratio, such as for maps padded to whole windows; null if there is none.
     * Preferred to other rules, which may hold by chance for small maps.
     */
    private SizeExpression ratio(SizeOf size, ImmutableLongArray sizes, ImmutableLongArray to) {
        long divisor = to.get(0) == 0 ? 0 : sizes.get(0) / to.get(0);
        boolean isWhole =
                IntStream.range(0, examples).allMatch(i -> divisor * to.get(i) == sizes.get(i));
        return divisor > 1 && isWhole ? SizeExpression.quotient(size, 0, divisor) : null;
    }

    private SizeExpression quotient(
            SizeOf size,
            ImmutableLongArray sizes,
            ImmutableLongArray to,
            long divisor,
            boolean isRounded) {
        long from = -MAX_PARTS * divisor;
        long most = MAX_PARTS * divisor;
        for (int i = 0; i < examples; i++) {
            long least = to.get(i) * divisor - sizes.get(i);
            from = Math.max(from, least);
            most = Math.min(most, least + divisor - 1);
        }
        boolean isDown = from <= 0 && 0 <= most;
        boolean isUp = from <= divisor - 1 && divisor - 1 <= most;
        long summand = isDown ? 0 : isUp ? divisor - 1 : from;
        return from <= most && (isDown || isUp) == isRounded
                ? SizeExpression.quotient(size, summand, divisor)
                : null;
    }

    private Optional<SizeExpression> product(ImmutableLongArray numbers) {
        List<ImmutableLongArray> all = List.copyOf(known.keySet());
        for (int l = 0; l < all.size(); l++) {
            ImmutableLongArray left = all.get(l);
            for (ImmutableLongArray right : all.subList(l, all.size())) {
                long first = left.get(0) * right.get(0);
                long factor = first == 0 ? 0 : numbers.get(0) / first;
                ImmutableList<SizeOf> both = ImmutableList.of(known.get(left), known.get(right));
                SizeExpression found = new SizeExpression(both, factor, 0, 1, false);
                if (factor != 0
                        && IntStream.range(0, examples)
                                .allMatch(
                                        i ->
                                                found.evaluate(left.get(i) * right.get(i))
                                                        == numbers.get(i))) {
                    return Optional.of(found);
                }
            }
        }
        return Optional.empty();
    }
}

package dev.saccade.export;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.export.Graph.Value;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Infers from examples how numbers depend on the sizes of tensors: the size along an axis, a
 * multiple or part of it plus an offset, the padding to a multiple, or a product of two. The
 * simplest rule that holds for all examples wins, then the size that was defined first.
 */
final class SymbolicShape {

    private static final long MOST_FACTOR = 4096;
    private static final long MOST_DIVISOR = 256;
    private static final long MOST_PARTS = 4;

    private final int examples;

    /** The sizes that differ between examples, by their values in all of them. */
    private final Map<ImmutableLongArray, Extent> known = new LinkedHashMap<>();

    SymbolicShape(int examples) {
        this.examples = examples;
    }

    /** Adds the sizes of a value in each example. */
    void define(Value value, List<ImmutableList<Long>> sizes) {
        for (int axis = 0; axis < sizes.get(0).size(); axis++) {
            ImmutableLongArray each = along(axis, sizes);
            if (each.stream().distinct().count() > 1) {
                known.putIfAbsent(each, new Extent.SizeOf(value, axis));
            }
        }
    }

    private static ImmutableLongArray along(int axis, List<ImmutableList<Long>> sizes) {
        return ImmutableLongArray.copyOf(sizes.stream().mapToLong(each -> each.get(axis)));
    }

    /**
     * Returns the rule of numbers, one per example.
     *
     * @param near values whose sizes are tried first, in each example
     */
    Optional<Extent> find(ImmutableLongArray numbers, List<List<Value>> near) {
        if (known.containsKey(numbers)) {
            return Optional.of(known.get(numbers));
        }
        Map<ImmutableLongArray, Extent> first = new LinkedHashMap<>();
        for (List<Value> value : near) {
            List<ImmutableList<Long>> sizes = value.stream().map(Value::sizes).toList();
            for (int axis = 0; axis < sizes.get(0).size(); axis++) {
                ImmutableLongArray each = along(axis, sizes);
                if (known.containsKey(each)) {
                    first.put(each, known.get(each));
                }
            }
        }
        return rule(first, numbers).or(() -> rule(known, numbers)).or(() -> product(numbers));
    }

    private Optional<Extent> rule(
            Map<ImmutableLongArray, Extent> known, ImmutableLongArray numbers) {
        long least = 1 + numbers.stream().max().orElse(0);
        return any(known, (sizes, extent) -> linear(extent, sizes, numbers))
                .or(() -> any(known, (sizes, extent) -> ratio(extent, sizes, numbers)))
                .or(() -> quotient(known, numbers, /* isRounded= */ true))
                .or(
                        () ->
                                anyDivisor(
                                        Math.max(2, least),
                                        d -> any(known, (s, e) -> lacking(e, s, numbers, d))))
                .or(() -> quotient(known, numbers, /* isRounded= */ false));
    }

    private static Optional<Extent> any(
            Map<ImmutableLongArray, Extent> known,
            BiFunction<ImmutableLongArray, Extent, Optional<Extent>> rule) {
        return known.entrySet().stream()
                .map(size -> rule.apply(size.getKey(), size.getValue()))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Optional<Extent> anyDivisor(long least, LongFunction<Optional<Extent>> rule) {
        return LongStream.rangeClosed(least, MOST_DIVISOR)
                .mapToObj(rule)
                .flatMap(Optional::stream)
                .findFirst();
    }

    private Optional<Extent> linear(
            Extent extent, ImmutableLongArray sizes, ImmutableLongArray numbers) {
        int other = 1;
        while (sizes.get(other) == sizes.get(0)) {
            other++;
        }
        long run = sizes.get(other) - sizes.get(0);
        long rise = numbers.get(other) - numbers.get(0);
        long factor = rise / run;
        if (rise == 0 || rise % run != 0 || Math.abs(factor) > MOST_FACTOR) {
            return Optional.empty();
        }
        long summand = numbers.get(0) - factor * sizes.get(0);
        return Optional.<Extent>of(new Extent.Linear(extent, factor, summand))
                .filter(found -> holds(sizes, numbers, size -> factor * size + summand));
    }

    /**
     * Where nothing is left over, such as in maps padded to whole windows, only one divisor fits;
     * other rules may seem to hold while maps are small.
     */
    private Optional<Extent> ratio(
            Extent extent, ImmutableLongArray sizes, ImmutableLongArray numbers) {
        long divisor = numbers.get(0) == 0 ? 0 : sizes.get(0) / numbers.get(0);
        return Optional.<Extent>of(new Extent.Quotient(extent, 0, divisor))
                .filter(found -> divisor > 1)
                .filter(found -> holds(numbers, sizes, number -> divisor * number));
    }

    private Optional<Extent> lacking(
            Extent extent, ImmutableLongArray sizes, ImmutableLongArray numbers, long divisor) {
        return Optional.<Extent>of(new Extent.Lacking(extent, divisor))
                .filter(found -> holds(sizes, numbers, size -> Math.floorMod(-size, divisor)));
    }

    /** Tries rounding down and up first, which models mostly mean, and other summands later. */
    private Optional<Extent> quotient(
            Map<ImmutableLongArray, Extent> known, ImmutableLongArray numbers, boolean isRounded) {
        return anyDivisor(
                2, d -> any(known, (sizes, e) -> quotient(e, sizes, numbers, d, isRounded)));
    }

    private Optional<Extent> quotient(
            Extent extent,
            ImmutableLongArray sizes,
            ImmutableLongArray numbers,
            long divisor,
            boolean isRounded) {
        long from = -MOST_PARTS * divisor;
        long to = MOST_PARTS * divisor;
        for (int i = 0; i < examples; i++) {
            long least = numbers.get(i) * divisor - sizes.get(i);
            from = Math.max(from, least);
            to = Math.min(to, least + divisor - 1);
        }
        if (from > to) {
            return Optional.empty();
        }
        boolean isDown = from <= 0 && 0 <= to;
        boolean isUp = from <= divisor - 1 && divisor - 1 <= to;
        long summand = isDown ? 0 : isUp ? divisor - 1 : from;
        return (isDown || isUp) == isRounded
                ? Optional.of(new Extent.Quotient(extent, summand, divisor))
                : Optional.empty();
    }

    private boolean holds(ImmutableLongArray from, ImmutableLongArray to, LongUnaryOperator rule) {
        return IntStream.range(0, examples)
                .allMatch(i -> rule.applyAsLong(from.get(i)) == to.get(i));
    }

    private Optional<Extent> product(ImmutableLongArray numbers) {
        List<ImmutableLongArray> sizes = List.copyOf(known.keySet());
        for (int l = 0; l < sizes.size(); l++) {
            ImmutableLongArray left = sizes.get(l);
            for (ImmutableLongArray right : sizes.subList(l, sizes.size())) {
                long product = left.get(0) * right.get(0);
                if (product == 0 || numbers.get(0) % product != 0 || numbers.get(0) == 0) {
                    continue;
                }
                long factor = numbers.get(0) / product;
                if (IntStream.range(0, examples)
                        .allMatch(i -> factor * left.get(i) * right.get(i) == numbers.get(i))) {
                    return Optional.of(
                            new Extent.Product(known.get(left), known.get(right), factor));
                }
            }
        }
        return Optional.empty();
    }
}

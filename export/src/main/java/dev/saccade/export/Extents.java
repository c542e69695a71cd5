package dev.saccade.export;

import com.google.common.collect.ImmutableList;

import dev.saccade.export.Graph.Value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * Finds how numbers follow from the sizes of tensors, from examples: the size along an axis, a
 * multiple or part of it with something added, what is lacking to a multiple, or a product of two.
 * The simplest that holds for all examples is taken, of equal ones the size that is known first.
 */
final class Extents {

    private static final long MOST_FACTOR = 4096;
    private static final long MOST_DIVISOR = 256;
    private static final long MOST_PARTS = 4;

    private final int examples;

    /** The sizes that differ between examples, by their values in all of them. */
    private final Map<List<Long>, Extent> known = new LinkedHashMap<>();

    Extents(int examples) {
        this.examples = examples;
    }

    /** Takes the sizes that a value has in each example. */
    void define(Value value, List<ImmutableList<Long>> sizes) {
        for (int a = 0; a < sizes.get(0).size(); a++) {
            int axis = a;
            List<Long> each = sizes.stream().map(of -> of.get(axis)).toList();
            if (each.stream().distinct().count() > 1 && !known.containsKey(each)) {
                known.put(each, new Extent.SizeOf(value, axis));
            }
        }
    }

    /**
     * Returns what gives these numbers in the examples.
     *
     * @param near values whose sizes are looked at first, in each example
     */
    Optional<Extent> find(long[] numbers, List<List<Value>> near) {
        Extent same = known.get(Arrays.stream(numbers).boxed().toList());
        if (same != null) {
            return Optional.of(same);
        }
        Map<List<Long>, Extent> sizes = new LinkedHashMap<>();
        for (List<Value> value : near) {
            for (int a = 0; a < value.get(0).sizes().size(); a++) {
                int axis = a;
                List<Long> each = value.stream().map(of -> of.sizes().get(axis)).toList();
                if (known.containsKey(each)) {
                    sizes.put(each, known.get(each));
                }
            }
        }
        return rule(sizes, numbers)
                .or(() -> rule(known, numbers))
                .or(() -> product(known, numbers));
    }

    private Optional<Extent> rule(Map<List<Long>, Extent> sizes, long[] numbers) {
        return linear(sizes, numbers)
                .or(() -> share(sizes, numbers))
                .or(() -> part(sizes, numbers, true))
                .or(() -> lacking(sizes, numbers))
                .or(() -> part(sizes, numbers, false));
    }

    private Optional<Extent> linear(Map<List<Long>, Extent> sizes, long[] numbers) {
        return sizes.entrySet().stream()
                .flatMap(size -> linear(size.getValue(), array(size.getKey()), numbers).stream())
                .findFirst();
    }

    private Optional<Extent> lacking(Map<List<Long>, Extent> sizes, long[] numbers) {
        long least = 1 + Arrays.stream(numbers).max().orElse(0);
        for (long divisor = Math.max(2, least); divisor <= MOST_DIVISOR; divisor++) {
            long d = divisor;
            for (Map.Entry<List<Long>, Extent> size : sizes.entrySet()) {
                if (holds(array(size.getKey()), numbers, each -> Math.floorMod(-each, d))) {
                    return Optional.of(new Extent.Lacking(size.getValue(), d));
                }
            }
        }
        return Optional.empty();
    }

    private static long[] array(List<Long> numbers) {
        return numbers.stream().mapToLong(number -> number).toArray();
    }

    private Optional<Extent> linear(Extent extent, long[] sizes, long[] numbers) {
        int other =
                IntStream.range(1, examples)
                        .filter(i -> sizes[i] != sizes[0])
                        .findFirst()
                        .orElseThrow();
        long run = sizes[other] - sizes[0];
        long rise = numbers[other] - numbers[0];
        if (rise == 0 || rise % run != 0 || Math.abs(rise / run) > MOST_FACTOR) {
            return Optional.empty();
        }
        long factor = rise / run;
        long summand = numbers[0] - factor * sizes[0];
        return holds(sizes, numbers, size -> factor * size + summand)
                ? Optional.of(new Extent.Linear(extent, factor, summand))
                : Optional.empty();
    }

    /**
     * Where nothing is left over, such as of maps that are padded to whole windows, there is one
     * divisor; other ones may seem to do while maps are small.
     */
    private Optional<Extent> share(Map<List<Long>, Extent> known, long[] numbers) {
        for (Map.Entry<List<Long>, Extent> size : known.entrySet()) {
            long[] sizes = array(size.getKey());
            long divisor = numbers[0] == 0 ? 0 : sizes[0] / numbers[0];
            boolean isShare =
                    IntStream.range(0, examples).allMatch(i -> sizes[i] == divisor * numbers[i]);
            if (divisor > 1 && isShare) {
                return Optional.of(new Extent.Quotient(size.getValue(), 0, divisor));
            }
        }
        return Optional.empty();
    }

    /** Rounding down or up is what was mostly meant; other summands are looked for after. */
    private Optional<Extent> part(
            Map<List<Long>, Extent> known, long[] numbers, boolean isRounded) {
        for (long divisor = 2; divisor <= MOST_DIVISOR; divisor++) {
            long d = divisor;
            for (Map.Entry<List<Long>, Extent> size : known.entrySet()) {
                OptionalLong summand = summand(array(size.getKey()), numbers, d);
                boolean rounds =
                        summand.isPresent()
                                && (summand.getAsLong() == 0 || summand.getAsLong() == d - 1);
                if (summand.isPresent() && rounds == isRounded) {
                    return Optional.of(
                            new Extent.Quotient(size.getValue(), summand.getAsLong(), d));
                }
            }
        }
        return Optional.empty();
    }

    /** Returns what is added before a division, if that gives the numbers. */
    private OptionalLong summand(long[] sizes, long[] numbers, long divisor) {
        long from = -MOST_PARTS * divisor;
        long to = MOST_PARTS * divisor;
        for (int i = 0; i < examples; i++) {
            long least = numbers[i] * divisor - sizes[i];
            from = Math.max(from, least);
            to = Math.min(to, least + divisor - 1);
        }
        if (from > to) {
            return OptionalLong.empty();
        }
        boolean isDown = from <= 0 && 0 <= to;
        boolean isUp = from <= divisor - 1 && divisor - 1 <= to;
        return OptionalLong.of(isDown ? 0 : isUp ? divisor - 1 : from);
    }

    private boolean holds(long[] sizes, long[] numbers, LongUnaryOperator rule) {
        return IntStream.range(0, examples).allMatch(i -> rule.applyAsLong(sizes[i]) == numbers[i]);
    }

    private Optional<Extent> product(Map<List<Long>, Extent> known, long[] numbers) {
        List<Map.Entry<List<Long>, Extent>> sizes = new ArrayList<>(known.entrySet());
        for (int l = 0; l < sizes.size(); l++) {
            long[] left = array(sizes.get(l).getKey());
            for (int r = l; r < sizes.size(); r++) {
                long[] right = array(sizes.get(r).getKey());
                long product = left[0] * right[0];
                if (product == 0 || numbers[0] % product != 0 || numbers[0] == 0) {
                    continue;
                }
                long factor = numbers[0] / product;
                boolean holds =
                        IntStream.range(0, examples)
                                .allMatch(i -> factor * left[i] * right[i] == numbers[i]);
                if (holds) {
                    return Optional.of(
                            new Extent.Product(
                                    sizes.get(l).getValue(), sizes.get(r).getValue(), factor));
                }
            }
        }
        return Optional.empty();
    }
}

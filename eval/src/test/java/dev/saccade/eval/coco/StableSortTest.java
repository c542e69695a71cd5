package dev.saccade.eval.coco;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

class StableSortTest {

    @Property
    void sortsLikeTheJdkSortsObjects(
            @ForAll List<@IntRange(max = 9) Integer> keys, @ForAll @IntRange(max = 5) int from) {
        int start = Math.min(from, keys.size());
        int[] expected =
                IntStream.concat(
                                IntStream.range(0, start),
                                IntStream.range(start, keys.size())
                                        .boxed()
                                        .sorted(Comparator.comparing(i -> -keys.get(i)))
                                        .mapToInt(i -> i))
                        .toArray();
        int[] sorted = IntStream.range(0, keys.size()).toArray();
        StableSort.descending(sorted, start, keys.size(), keys::get);
        assertArrayEquals(expected, sorted);
    }
}

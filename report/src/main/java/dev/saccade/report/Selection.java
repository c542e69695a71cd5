package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Chooses of many pictures the few that are shown. */
public final class Selection {

    private Selection() {}

    /**
     * Returns the positions of some pictures, the worst first: one half is evenly spread over all,
     * and so the same for every model; the others are the worst of those that are left.
     *
     * @param all how many pictures there are
     * @param count how many are wanted at most
     * @param worstFirst order of positions; those that are equal come as they are in the data set
     */
    public static List<Integer> of(int all, int count, Comparator<Integer> worstFirst) {
        int kept = Math.min(count, all);
        int spread = kept == all ? all : kept / 2;
        Set<Integer> chosen = new LinkedHashSet<>();
        for (int i = 0; i < spread; i++) {
            chosen.add((int) ((i + 0.5) * all / spread));
        }
        IntStream.range(0, all)
                .boxed()
                .filter(i -> !chosen.contains(i))
                .sorted(worstFirst)
                .limit(kept - chosen.size())
                .toList()
                .forEach(chosen::add);
        return chosen.stream().sorted().sorted(worstFirst).collect(ImmutableList.toImmutableList());
    }
}

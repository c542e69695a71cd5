package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.ModelRank;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state dict in a PyTorch file, under any key.
 *
 * <p>Of several large dicts, trained weights are preferred to averaged weights and a teacher to its
 * student (see {@link ModelRank}); after that, {@code state_dict}, {@code model} and the first dict
 * win in this order.
 *
 * @param notes remarks on the chosen dict and its alternatives
 */
record TorchWeights(Map<String, StoredArray> arrays, List<String> notes) {

    private static final List<String> USUAL = List.of("state_dict", "model");

    /** Dicts with at least this fraction of the largest dict's size are alternatives. */
    private static final double ALTERNATIVE = 0.5;

    private static final int MAX_DEPTH = 4;

    /** Limit on searched entries, as dicts of a malicious file may be cyclic. */
    private static final int MAX_ENTRIES = 1_000_000;

    private static final int MAX_KEYS = 20;

    /** A dict with arrays. */
    private record Candidate(String path, Map<String, StoredArray> arrays) {

        boolean isAveraged() {
            return ModelRank.of(path, false) > 1;
        }

        @Override
        public String toString() {
            return path.isEmpty() ? "the top-level entries" : path;
        }
    }

    private static final class Search {

        private final List<Candidate> found = new ArrayList<>();
        private int entries;

        void add(String path, Map<?, ?> dict, int depth) {
            Map<String, StoredArray> arrays = new LinkedHashMap<>();
            for (Map.Entry<?, ?> entry : dict.entrySet()) {
                if (entries++ > MAX_ENTRIES) {
                    return;
                }
                if (!(entry.getKey() instanceof String key)) {
                    continue;
                }
                Object value = entry.getValue();
                if (value instanceof TorchTensor
                        || (value instanceof NumpyArray array && array.isNumeric())) {
                    arrays.put(key, (StoredArray) value);
                } else if (value instanceof Map<?, ?> nested
                        && depth < MAX_DEPTH
                        && !key.startsWith("optim")) {
                    add(path.isEmpty() ? key : path + "." + key, nested, depth + 1);
                }
            }
            if (!arrays.isEmpty()) {
                found.add(new Candidate(path, arrays));
            }
        }
    }

    static TorchWeights of(Map<?, ?> root, boolean averaged) {
        Search search = new Search();
        search.add("", root, 0);
        int largest = search.found.stream().mapToInt(c -> c.arrays.size()).max().orElse(0);
        List<Candidate> large =
                search.found.stream()
                        .filter(each -> each.arrays.size() >= ALTERNATIVE * largest)
                        .toList();
        boolean hasStudent = large.stream().anyMatch(each -> ModelRank.isOf(each.path, "student"));
        Comparator<Candidate> order =
                Comparator.<Candidate>comparingInt(each -> ModelRank.of(each.path, hasStudent))
                        .thenComparingInt(each -> place(each.path));
        Candidate chosen =
                large.stream()
                        .filter(each -> !averaged || each.isAveraged())
                        .min(order)
                        .orElseThrow(() -> noWeights(root, averaged));
        return new TorchWeights(chosen.arrays, notes(chosen, large));
    }

    private static int place(String path) {
        int place = USUAL.indexOf(path);
        return place < 0 ? USUAL.size() : place;
    }

    private static MalformedException noWeights(Map<?, ?> root, boolean averaged) {
        String keys =
                root.keySet().stream()
                        .filter(String.class::isInstance)
                        .limit(MAX_KEYS)
                        .toList()
                        .toString();
        return new MalformedException(
                "contains no %s; its keys are %s",
                averaged ? "averaged weights, such as state_dict_ema" : "tensors", keys);
    }

    private static List<String> notes(Candidate chosen, List<Candidate> large) {
        List<String> notes = new ArrayList<>();
        if (!chosen.path.isEmpty() && !USUAL.contains(chosen.path)) {
            notes.add("used weights: " + chosen);
        }
        List<Candidate> unused =
                large.stream().filter(each -> !each.path.equals(chosen.path)).toList();
        List<Candidate> others = unused.stream().filter(each -> !each.isAveraged()).toList();
        if (!others.isEmpty()) {
            notes.add("other weights in the file: " + others);
        }
        String hint = "; unused, but convert can extract them";
        unused.stream()
                .filter(Candidate::isAveraged)
                .findFirst()
                .ifPresent(each -> notes.add("averaged weights in the file: " + each + hint));
        return notes;
    }
}

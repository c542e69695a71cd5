package dev.saccade.checkpoint;

import java.util.regex.Pattern;

/** What pre-training and dense prediction do not have in common, and rightly so. */
final class Expectations {

    private static final Pattern COMPUTED =
            Pattern.compile(
                    ".+\\.(num_batches_tracked|relative_position_index(_\\d+)?|relative_id"
                            + "|attn_mask|valid_ind_rolled|valid_ind_unfold_\\d+)");

    private static final Pattern CLASSIFIER =
            Pattern.compile("(backbone\\.)?((norm|fc|head|head\\.fc)\\.(weight|bias)|cls_token)");

    private static final Pattern FRESH =
            Pattern.compile(
                    "(backbone\\.)?(norm\\d\\..+|layers\\.3\\.blocks\\.\\d+\\.attn"
                            + "\\.relative_position_bias_table_to_neighbors)");

    private Expectations() {}

    /** Returns whether a tensor is a counter or an index table, computed anew where needed. */
    static boolean isComputed(String name) {
        return COMPUTED.matcher(name).matches();
    }

    /**
     * Returns whether it is right that a tensor of a checkpoint finds no place: it is computed, of
     * the classifier of a pre-training, or the state of an optimiser.
     */
    static boolean isNeedless(String name) {
        return isComputed(name)
                || CLASSIFIER.matcher(name).matches()
                || name.startsWith("optimizer.");
    }

    /**
     * Returns whether it is right that a checkpoint has nothing for a parameter: the norms of the
     * outputs, and what the last stage of Focal Transformer adds for images larger than a window.
     */
    static boolean isFresh(String name) {
        return FRESH.matcher(name).matches();
    }
}

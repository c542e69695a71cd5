package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.CheckOptions;

import java.util.Optional;

/** Compares the classes of label maps beside objects with a semantic head. */
public final class SemanticClasses {

    private SemanticClasses() {}

    /**
     * Returns the fault of the number of classes.
     *
     * @param classes of the label maps; 0 if there are none
     * @param key the setting of the number, for messages
     */
    public static Optional<String> fault(int classes, CheckOptions options, String key) {
        if (classes == 0) {
            return Optional.of(
                    "has no label maps beside its objects, but the semantic_head of the model predicts"
                            + " the class of every pixel; in COCO's format label_maps names their"
                            + " folder, and semantic_head: null does without them");
        }
        return classes > options.semanticClasses()
                ? Optional.of(
                        Text.format(
                                "%s is %d, but model.head.semantic_head.num_classes is %d, expected at"
                                        + " least as many",
                                key, classes, options.semanticClasses()))
                : Optional.empty();
    }
}

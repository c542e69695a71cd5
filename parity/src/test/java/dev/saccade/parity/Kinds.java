package dev.saccade.parity;

import static java.util.Map.entry;

import org.opentest4j.TestAbortedException;

import java.util.Map;

/** All kinds of cases that Saccade can be held against. */
final class Kinds {

    private static final Map<String, Kind> TABLE =
            Map.ofEntries(
                    entry("anchors", new AnchorsKind()),
                    entry("assigner", new AssignerKind()),
                    entry("backbone", new BackboneKind()),
                    entry("bbox_coder", new BoxCoderKind()),
                    entry("losses", new LossesKind()),
                    entry("lr_schedule", new LrScheduleKind()),
                    entry("multiclass_nms", new MulticlassNmsKind()),
                    entry("neck", new NeckKind()),
                    entry("optimizer", new OptimizerKind()),
                    entry("rle", new RleKind()));

    private Kinds() {}

    /** Runs a case, aborting it if nothing is built for its kind. */
    static void run(Case recorded) throws Exception {
        Kind kind = TABLE.get(recorded.kind());
        if (kind == null) {
            throw new TestAbortedException("nothing is built for the kind " + recorded.kind());
        }
        kind.run(recorded);
        recorded.checkAllUsed();
    }
}

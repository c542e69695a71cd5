package dev.saccade.backbones;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.PositionTable;

/** Checkpoints of ELSA as its official code saves them. */
final class ElsaCheckpoints {

    static final CheckpointRules RULES =
            SwinCheckpoints.TABLES
                    .withPositions(PositionTable.bicubic("{*}.rb").withPositionsLast())
                    .withIndexes(
                            new IndexTable("{*}.rb", "{*}.relative_id", WindowIndexes::ofElsa));

    private ElsaCheckpoints() {}
}

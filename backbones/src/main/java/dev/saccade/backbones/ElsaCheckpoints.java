package dev.saccade.backbones;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.PositionTable;

/** Rules for checkpoints of the official ELSA code. */
final class ElsaCheckpoints {

    static final CheckpointRules RULES =
            SwinCheckpoints.TABLES
                    .withPositions(PositionTable.bicubic("{*}.rb").withPositionsLast())
                    .withIndexes(
                            new IndexTable("{*}.rb", "{*}.relative_id", WindowIndexes::ofElsa));

    private ElsaCheckpoints() {}
}

package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.conversion.Reordering;

import java.util.List;
import java.util.Map;

/** Swin Transformers as other libraries save them; ours has the names of the official code. */
final class SwinCheckpoints {

    private static final List<String> OURS =
            List.of(
                    "{b}layers.{i}.blocks.{j}.attn.relative_position_bias_table",
                    "{b}layers.{i}.downsample.reduction.weight");

    /**
     * The input of patch merging, the last axis: theirs unfolds it, the four pixels of a cell for
     * each channel, row by row; ours has all channels for each pixel, column by column.
     */
    private static final Reordering UNFOLD =
            new Reordering(
                    theirs ->
                            theirs.reshape(-1, channels(theirs.getShape()), 2, 2)
                                    .transpose(0, 3, 2, 1)
                                    .reshape(theirs.getShape()),
                    ours ->
                            ours.reshape(-1, 2, 2, channels(ours.getShape()))
                                    .transpose(0, 3, 2, 1)
                                    .reshape(ours.getShape()));

    /** A square table of theirs lies in one row. */
    private static final Reordering FLAT =
            new Reordering(
                    theirs -> {
                        int side = WindowIndexes.root(theirs.size());
                        return theirs.reshape(side, side);
                    },
                    NDArray::flatten);

    /** Within mmdetection, mmsegmentation and mmpretrain. */
    private static final NameTable OPENMMLAB =
            new NameTable(
                    "openmmlab",
                    "{b}stages.{i}.blocks.{j}.attn.w_msa.relative_position_bias_table",
                    OURS,
                    """
                    {b}patch_embed.projection.{*}               {b}patch_embed.proj.{*}
                    {b}stages.{i}.blocks.{j}.attn.w_msa.{*}     {b}layers.{i}.blocks.{j}.attn.{*}
                    {b}stages.{i}.blocks.{j}.ffn.layers.0.0.{*} {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                    {b}stages.{i}.blocks.{j}.ffn.layers.1.{*}   {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                    {b}stages.{i}.blocks.{j}.{*}                {b}layers.{i}.blocks.{j}.{*}
                    {b}stages.{i}.downsample.{*}                {b}layers.{i}.downsample.{*} unfold
                    """,
                    Map.of("unfold", UNFOLD));

    /** Since 0.9, where a stage begins with its patch merging. */
    private static final NameTable TIMM =
            new NameTable(
                    "timm",
                    "{b}layers.3.downsample.reduction.weight",
                    OURS,
                    """
                    {b}layers.{i+1}.downsample.{*}  {b}layers.{i}.downsample.{*}
                    -                               {b}layers.{i}.blocks.{j}.{*}_index
                    """);

    /** Whose features are the stem, then stages and patch merging in turn. */
    private static final NameTable TORCHVISION =
            new NameTable(
                    "torchvision",
                    "{b}features.{i}.{j}.attn.relative_position_bias_table",
                    OURS,
                    """
                    {b}features.0.0.{*}               {b}patch_embed.proj.{*}
                    {b}features.0.2.{*}               {b}patch_embed.norm.{*}
                    {b}features.{2i+1}.{j}.mlp.0.{*}  {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                    {b}features.{2i+1}.{j}.mlp.3.{*}  {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                    {b}features.{2i+1}.{j}.{*}_index  {b}layers.{i}.blocks.{j}.{*}_index flat
                    {b}features.{2i+1}.{j}.{*}        {b}layers.{i}.blocks.{j}.{*}
                    {b}features.{2i+2}.{*}            {b}layers.{i}.downsample.{*}
                    """,
                    Map.of("flat", FLAT));

    /** What every family has whose windows have one table of biases a block. */
    static final CheckpointRules TABLES =
            StagedTransformer.CLASSIFIER
                    .withPositions(
                            PositionTable.bicubic("{*}.relative_position_bias_table"),
                            PositionTable.bicubic("{b}absolute_pos_embed"))
                    .withIndexes(
                            new IndexTable(
                                    "{*}.relative_position_bias_table",
                                    "{*}.relative_position_index",
                                    WindowIndexes::ofSwin))
                    .withComputed("{*}.attn_mask");

    static final CheckpointRules RULES =
            TABLES.withNames(OPENMMLAB, TIMM, TORCHVISION)
                    .withUnexpected("{b}head.fc.weight", "{b}head.fc.bias")
                    .withMissing("{b}global_block.{*}");

    private SwinCheckpoints() {}

    private static long channels(Shape merged) {
        return merged.get(merged.dimension() - 1) / 4;
    }
}

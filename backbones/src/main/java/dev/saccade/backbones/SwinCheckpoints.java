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

/** Maps Swin names of other libraries to the official names, which Saccade uses. */
final class SwinCheckpoints {

    private static final List<String> OURS =
            List.of(
                    "{b}layers.{i}.blocks.{j}.attn.relative_position_bias_table",
                    "{b}layers.{i}.downsample.reduction.weight");

    /**
     * Input order of patch merging: OpenMMLab unfolds to (channel, row, column); the official code
     * concatenates to (column, row, channel).
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

    /** Relative position indices: flat in torchvision, square in the official code. */
    private static final Reordering FLAT =
            new Reordering(
                    theirs -> {
                        int side = WindowIndexes.root(theirs.size());
                        return theirs.reshape(side, side);
                    },
                    NDArray::flatten);

    private static final String OPENMMLAB_ROWS =
            """
            {b}patch_embed.projection.{*}               {b}patch_embed.proj.{*}
            {b}stages.{i}.blocks.{j}.attn.w_msa.{*}     {b}layers.{i}.blocks.{j}.attn.{*}
            {b}stages.{i}.blocks.{j}.ffn.layers.0.0.{*} {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
            {b}stages.{i}.blocks.{j}.ffn.layers.1.{*}   {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
            {b}stages.{i}.blocks.{j}.{*}                {b}layers.{i}.blocks.{j}.{*}
            {b}stages.{i}.downsample.{*}                {b}layers.{i}.downsample.{*} unfold
            """;

    private static final String OPENMMLAB_MARK =
            "{b}stages.{i}.blocks.{j}.attn.w_msa.relative_position_bias_table";

    /** mmdetection and mmsegmentation, and backbones of mmpretrain. */
    private static final NameTable OPENMMLAB =
            new NameTable(
                    "openmmlab", OPENMMLAB_MARK, OURS, OPENMMLAB_ROWS, Map.of("unfold", UNFOLD));

    /** Classifiers of mmpretrain, whose backbone contains the last norm. */
    private static final NameTable MMPRETRAIN =
            new NameTable(
                            "openmmlab",
                            OPENMMLAB_MARK,
                            List.of(
                                    "backbone.layers.{i}.downsample.reduction.weight",
                                    "norm.weight",
                                    "head.weight"),
                            OPENMMLAB_ROWS
                                    + """
                                    backbone.norm3.{*}  norm.{*}
                                    head.fc.{*}         head.{*}
                                    """,
                            Map.of("unfold", UNFOLD))
                    .withMark("head.fc.weight");

    /** timm since 0.9, where patch merging starts a stage. */
    private static final NameTable TIMM =
            new NameTable(
                    "timm",
                    "{b}layers.3.downsample.reduction.weight",
                    OURS,
                    """
                    {b}head.fc.{*}                  {b}head.{*}
                    {b}layers.{i+1}.downsample.{*}  {b}layers.{i}.downsample.{*}
                    -                               {b}layers.{i}.blocks.{j}.{*}_index
                    """);

    /** timm since 0.9 with {@code features_only}, where stage names contain underscores. */
    private static final NameTable TIMM_FEATURES =
            new NameTable(
                    "timm",
                    "{b}layers_{i}.blocks.{j}.attn.relative_position_bias_table",
                    OURS,
                    """
                    {b}layers_{i+1}.downsample.{*}  {b}layers.{i}.downsample.{*}
                    {b}layers_{i}.blocks.{*}        {b}layers.{i}.blocks.{*}
                    """);

    /** timm before 0.9 with {@code features_only}, where patch merging ends a stage. */
    private static final NameTable OLD_TIMM_FEATURES =
            new NameTable(
                    "timm",
                    "{b}layers_0.downsample.reduction.weight",
                    OURS,
                    "{b}layers_{i}.{*}  {b}layers.{i}.{*}");

    /** Names common to both generations of Hugging Face models. */
    private static final String HUGGING_FACE_ROWS =
            """
            {b}embeddings.patch_embeddings.projection.{*}         {b}patch_embed.proj.{*}
            {b}embeddings.norm.{*}                                {b}patch_embed.norm.{*}
            {b}encoder.layers.{i}.blocks.{j}.layernorm_before.{*} {b}layers.{i}.blocks.{j}.norm1.{*}
            {b}encoder.layers.{i}.blocks.{j}.layernorm_after.{*}  {b}layers.{i}.blocks.{j}.norm2.{*}
            {b}encoder.layers.{i}.downsample.{*}                  {b}layers.{i}.downsample.{*}
            {b}hidden_states_norms.stage{i+1}.{*}                 {b}norm{i}.{*}
            {b}classifier.{*}                                     {b}head.{*}
            {b}layernorm.{*}                                      {b}norm.{*}
            """;

    /** Files of Hugging Face Transformers, with separate query, key and value. */
    private static final NameTable HUGGING_FACE =
            new NameTable(
                    "huggingface",
                    "{b}encoder.layers.{i}.blocks.{j}.attention.self.query.weight",
                    OURS,
                    HUGGING_FACE_ROWS
                            + """
                            {b}encoder.layers.{i}.blocks.{j}.attention.self.query.{*}   {b}layers.{i}.blocks.{j}.attn.qkv.{*} 1/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.self.key.{*}     {b}layers.{i}.blocks.{j}.attn.qkv.{*} 2/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.self.value.{*}   {b}layers.{i}.blocks.{j}.attn.qkv.{*} 3/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.output.dense.{*} {b}layers.{i}.blocks.{j}.attn.proj.{*}
                            {b}encoder.layers.{i}.blocks.{j}.attention.self.{*}         {b}layers.{i}.blocks.{j}.attn.{*}
                            {b}encoder.layers.{i}.blocks.{j}.intermediate.dense.{*}     {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                            {b}encoder.layers.{i}.blocks.{j}.output.dense.{*}           {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                            """);

    /** State dicts of Transformers 5, whose files keep the old names. */
    private static final NameTable HUGGING_FACE_MODULES =
            new NameTable(
                    "huggingface",
                    "{b}encoder.layers.{i}.blocks.{j}.attention.q_proj.weight",
                    OURS,
                    HUGGING_FACE_ROWS
                            + """
                            {b}encoder.layers.{i}.blocks.{j}.attention.q_proj.{*}                 {b}layers.{i}.blocks.{j}.attn.qkv.{*} 1/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.k_proj.{*}                 {b}layers.{i}.blocks.{j}.attn.qkv.{*} 2/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.v_proj.{*}                 {b}layers.{i}.blocks.{j}.attn.qkv.{*} 3/3
                            {b}encoder.layers.{i}.blocks.{j}.attention.o_proj.{*}                 {b}layers.{i}.blocks.{j}.attn.proj.{*}
                            {b}encoder.layers.{i}.blocks.{j}.attention.relative_position_bias.{*} {b}layers.{i}.blocks.{j}.attn.{*}
                            {b}encoder.layers.{i}.blocks.{j}.mlp.fc1.{*}                          {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                            {b}encoder.layers.{i}.blocks.{j}.mlp.fc2.{*}                          {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                            """);

    /** torchvision, where {@code features} alternates stages and patch merging. */
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

    /** Rules for families with one bias table per block. */
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
            TABLES.withNames(
                            MMPRETRAIN,
                            OPENMMLAB,
                            TIMM,
                            OLD_TIMM_FEATURES,
                            TIMM_FEATURES,
                            TORCHVISION,
                            HUGGING_FACE,
                            HUGGING_FACE_MODULES)
                    .withUnexpected("{b}head.fc.weight", "{b}head.fc.bias")
                    .withMissing("{b}global_block.{*}");

    private SwinCheckpoints() {}

    private static long channels(Shape merged) {
        return merged.get(merged.dimension() - 1) / 4;
    }
}

package dev.saccade.checkpoint;

import java.util.List;

/** The names of other libraries, theirs to the left and ours to the right. */
final class NameTables {

    private static final List<String> SWIN =
            List.of(
                    "{b}layers.{i}.blocks.{j}.attn.relative_position_bias_table",
                    "{b}layers.{i}.downsample.reduction.weight");

    /** Swin Transformer within mmdetection, mmsegmentation and mmpretrain. */
    static final NameTable OPENMMLAB_SWIN =
            new NameTable(
                    "{b}stages.{i}.blocks.{j}.attn.w_msa.relative_position_bias_table",
                    SWIN,
                    """
                    {b}patch_embed.projection.{*}               {b}patch_embed.proj.{*}
                    {b}stages.{i}.blocks.{j}.attn.w_msa.{*}     {b}layers.{i}.blocks.{j}.attn.{*}
                    {b}stages.{i}.blocks.{j}.ffn.layers.0.0.{*} {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                    {b}stages.{i}.blocks.{j}.ffn.layers.1.{*}   {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                    {b}stages.{i}.blocks.{j}.{*}                {b}layers.{i}.blocks.{j}.{*}
                    {b}stages.{i}.downsample.{*}                {b}layers.{i}.downsample.{*} unfold
                    """);

    /** Swin Transformer of timm since 0.9, where a stage begins with its patch merging. */
    static final NameTable TIMM_SWIN =
            new NameTable(
                    "{b}layers.3.downsample.reduction.weight",
                    SWIN,
                    """
                    {b}layers.{i+1}.downsample.{*}  {b}layers.{i}.downsample.{*}
                    -                               {b}layers.{i}.blocks.{j}.{*}_index
                    """);

    /**
     * Swin Transformer of torchvision, whose features are the stem, then stages and patch merging
     * in turn.
     */
    static final NameTable TORCHVISION_SWIN =
            new NameTable(
                    "{b}features.{i}.{j}.attn.relative_position_bias_table",
                    SWIN,
                    """
                    {b}features.0.0.{*}               {b}patch_embed.proj.{*}
                    {b}features.0.2.{*}               {b}patch_embed.norm.{*}
                    {b}features.{2i+1}.{j}.mlp.0.{*}  {b}layers.{i}.blocks.{j}.mlp.fc1.{*}
                    {b}features.{2i+1}.{j}.mlp.3.{*}  {b}layers.{i}.blocks.{j}.mlp.fc2.{*}
                    {b}features.{2i+1}.{j}.{*}_index  {b}layers.{i}.blocks.{j}.{*}_index flat
                    {b}features.{2i+1}.{j}.{*}        {b}layers.{i}.blocks.{j}.{*}
                    {b}features.{2i+2}.{*}            {b}layers.{i}.downsample.{*}
                    """);

    /** ResNet of torchvision has our names. */
    static final NameTable TORCHVISION_RESNET =
            new NameTable("layer1.0.conv1.weight", List.of("layer1.0.conv1.weight"), "");

    /**
     * {@code retinanet_resnet50_fpn} of torchvision, in files of either age, of which the newer
     * come first; its FCOS shares backbone and FPN.
     */
    static final NameTable TORCHVISION_RETINANET =
            new NameTable(
                    "backbone.body.{*}",
                    List.of("backbone.layer1.0.conv1.weight", "bbox_head.retina_cls.weight"),
                    """
                    backbone.body.{*}                        backbone.{*}
                    backbone.fpn.inner_blocks.{i}.0.{*}      neck.lateral_convs.{i}.conv.{*}
                    backbone.fpn.inner_blocks.{i}.{*}        neck.lateral_convs.{i}.conv.{*}
                    backbone.fpn.extra_blocks.p6.{*}         neck.fpn_convs.3.conv.{*}
                    backbone.fpn.extra_blocks.p7.{*}         neck.fpn_convs.4.conv.{*}
                    backbone.fpn.layer_blocks.{i}.0.{*}      neck.fpn_convs.{i}.conv.{*}
                    backbone.fpn.layer_blocks.{i}.{*}        neck.fpn_convs.{i}.conv.{*}
                    head.classification_head.conv.{i}.0.{*}  bbox_head.cls_convs.{i}.conv.{*}
                    head.classification_head.conv.{2i}.{*}   bbox_head.cls_convs.{i}.conv.{*}
                    head.regression_head.conv.{i}.0.{*}      bbox_head.reg_convs.{i}.conv.{*}
                    head.regression_head.conv.{2i}.{*}       bbox_head.reg_convs.{i}.conv.{*}
                    head.classification_head.cls_logits.{*}  bbox_head.retina_cls.{*}
                    head.regression_head.bbox_reg.{*}        bbox_head.retina_reg.{*}
                    """);

    private NameTables() {}
}

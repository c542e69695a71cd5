package dev.saccade.export;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;

import java.util.List;
import java.util.Locale;

/** Narrow models with three classes and no training. */
final class TinyModel {

    static final String RESNET = "{type: resnet, depth: 18, stem_channels: 8, base_channels: 8}";
    static final String SWIN =
            "{type: swin, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 2, 1, 1]}";
    static final String FPN = "{type: fpn, out_channels: 16}";
    static final String RETINANET =
            "{type: retinanet, feat_channels: 16, stacked_convs: 1, nms_pre: 60}";
    private static final String REGIONS =
            "rpn_head: {feat_channels: 16, train_proposals: {nms_pre: 60, max_per_img: 40},"
                    + " test_proposals: {nms_pre: 60, max_per_img: 40}}, mask_head: {num_convs: 2,"
                    + " conv_out_channels: 16}, nms: {max_per_img: 20}";
    static final String MASK_RCNN =
            "{type: mask_rcnn, bbox_head: {fc_out_channels: 32}, " + REGIONS + "}";
    static final String CASCADE_MASK_RCNN =
            "{type: cascade_mask_rcnn, stages: [{bbox_head: {fc_out_channels: 32}}, {bbox_head:"
                    + " {fc_out_channels: 32, bbox_coder: {target_stds: [0.05, 0.05, 0.1, 0.1]}}},"
                    + " {bbox_head: {fc_out_channels: 32, bbox_coder: {target_stds: [0.033, 0.033, 0.067,"
                    + " 0.067]}}}], "
                    + REGIONS
                    + "}";
    static final String UPERNET = "{type: upernet, channels: 16}";

    private TinyModel() {}

    static Model<?> of(String backbone, String neck, String head, NDManager manager) {
        String text =
                String.format(
                        Locale.ROOT, "backbone: %s\nneck: %s\nhead: %s\n", backbone, neck, head);
        ModelConfig config = Configs.bind(ConfigFile.parse(text, "test"), ModelConfig.class);
        Model<?> model = config.build(List.of("a", "b", "c"));
        model.initialize(manager, 1);
        model.train(false);
        // Scores of an untrained model are too much alike to be put in order.
        model.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.contains("cls")) {
                                parameter.getArray().muli(10);
                            }
                        });
        return model;
    }
}

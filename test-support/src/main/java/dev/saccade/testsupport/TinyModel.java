package dev.saccade.testsupport;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Small models with random weights; detectors detect something in most images. */
public enum TinyModel {
    RETINANET(
            """
            neck: {type: fpn, out_channels: 8, num_outs: 5}
            head:
             {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: 0.008}}
            """),
    MASK_RCNN(
            """
            neck: {type: fpn, out_channels: 8, num_outs: 5}
            head:
             {type: mask_rcnn, rpn_head: {feat_channels: 8}, bbox_head: {fc_out_channels: 8},
              mask_head: {num_convs: 1, conv_out_channels: 8}, nms: {score_thr: 0.008}}
            """),
    SEMANTIC_FPN(
            """
            neck: {type: fpn, out_channels: 8, num_outs: 4}
            head: {type: semantic_fpn, channels: 8}
            """),
    CLASSIFIER(
            """
            head: {type: linear_cls}
            """);

    private final String yaml;

    TinyModel(String parts) {
        this.yaml =
                "backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}\n" + parts;
    }

    public boolean isSegmenter() {
        return this == SEMANTIC_FPN;
    }

    /** Saves a checkpoint with random weights; transforms {@code first} precede normalization. */
    public Path save(Path file, List<String> classes, Transform... first) {
        return save(file, classes, NamedAugmentations.NONE, first);
    }

    /** Saves a checkpoint with random weights and test-time augmentation. */
    public Path save(Path file, List<String> classes, NamedAugmentations tta, Transform... first) {
        return save(file, classes, tta, PixelFormat.RGB, Configs.of(Normalize.class), first);
    }

    /** Saves a checkpoint with random weights for images of another format. */
    public Path save(Path file, List<String> classes, PixelFormat pixels) {
        Normalize normalize =
                new Normalize(
                        Collections.nCopies(pixels.channels(), 128.0),
                        Collections.nCopies(pixels.channels(), 64.0));
        return save(file, classes, NamedAugmentations.NONE, pixels, normalize);
    }

    private Path save(
            Path file,
            List<String> classes,
            NamedAugmentations tta,
            PixelFormat pixels,
            Normalize normalize,
            Transform... first) {
        ModelConfig model = Configs.bind(ConfigFile.parse(yaml, name()), ModelConfig.class);
        List<Transform> transforms = new ArrayList<>(List.of(first));
        transforms.add(normalize);
        if (this == RETINANET || this == MASK_RCNN) {
            transforms.add(Configs.of(Pad.class));
        }
        return save(
                new ModelSpec(
                        model, transforms, tta, classes, Precision.FLOAT32, List.of(), pixels),
                file);
    }

    public static Path save(ModelSpec spec, Path file) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = spec.model().build(spec.classes(), spec.pixels().channels());
            model.initialize(manager, 3);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(0).toMetadata());
            Checkpoints.save(file, Checkpoint.of(model, metadata));
        }
        return file;
    }
}

package dev.saccade.djl;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.transforms.NamedViews;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import javax.imageio.ImageIO;

/** Checkpoints of small models with random weights that find something, and a photograph. */
enum TinyModel {
    RETINANET(
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            head: {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: 0.008}}
            """),
    MASK_RCNN(
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            head:
              type: mask_rcnn
              rpn_head: {feat_channels: 8}
              bbox_head: {fc_out_channels: 8}
              mask_head: {num_convs: 1, conv_out_channels: 8}
              nms: {score_thr: 0.008}
            """),
    SEMANTIC_FPN(
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8, num_outs: 4}
            head: {type: semantic_fpn, channels: 8}
            """);

    static final int WIDTH = 101;
    static final int HEIGHT = 67;

    private final String yaml;

    TinyModel(String yaml) {
        this.yaml = yaml;
    }

    boolean isSegmenter() {
        return this == SEMANTIC_FPN;
    }

    /** Writes a checkpoint of this model with random weights. */
    Path checkpoint(Path folder, NamedViews views) {
        Resize resize =
                new Resize(List.of(List.of(120, 80)), Resize.Mode.VALUE, true, List.of(), 1);
        ModelSpec spec =
                new ModelSpec(
                        Configs.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class),
                        isSegmenter()
                                ? List.of(resize, Configs.of(Normalize.class))
                                : List.of(
                                        resize, Configs.of(Normalize.class), Configs.of(Pad.class)),
                        views,
                        isSegmenter() ? List.of("a", "b", "c", "d", "e", "f") : List.of("a", "b"),
                        Precision.FLOAT32);
        Path file = folder.resolve(name().toLowerCase(Locale.ROOT) + ".safetensors");
        save(spec, file);
        return file;
    }

    Path checkpoint(Path folder) {
        return checkpoint(folder, NamedViews.NONE);
    }

    /** Writes a checkpoint with random weights. */
    static void save(ModelSpec spec, Path file) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Model<?> model = spec.model().build(spec.classes());
            model.initialize(manager, 3);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(0).toMetadata());
            Checkpoints.save(file, Checkpoint.of(model, metadata));
        }
    }

    /** Writes a photograph. */
    static Path photo(Path folder) throws IOException {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.setRGB(x, y, (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> 3));
            }
        }
        Path file = folder.resolve("photo.png");
        ImageIO.write(image, "png", file.toFile());
        return file;
    }
}

package dev.saccade.spark;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import org.apache.spark.sql.SparkSession;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.imageio.ImageIO;

/** A Spark of two threads that all tests share, and what they show it. */
final class Fixtures {

    private static final String BODY =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            """;

    static final String RETINANET =
            BODY
                    + """
                    head: {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: 0.008}}
                    """;

    static final String MASK_RCNN =
            BODY
                    + """
                    head:
                      type: mask_rcnn
                      rpn_head: {feat_channels: 8}
                      bbox_head: {fc_out_channels: 8}
                      mask_head: {num_convs: 1, conv_out_channels: 8}
                      nms: {score_thr: 0.008}
                    """;

    static final String SEMANTIC_FPN =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8, num_outs: 4}
            head: {type: semantic_fpn, channels: 8}
            """;

    private Fixtures() {}

    static SparkSession spark() {
        return SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", false)
                .config("spark.sql.shuffle.partitions", 4)
                .config("spark.sql.warehouse.dir", "target/spark-warehouse")
                .getOrCreate();
    }

    /** Writes a model of random weights. */
    static Path checkpoint(Path file, String yaml) {
        ModelConfig parts = Configs.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class);
        ModelSpec spec =
                new ModelSpec(
                        parts,
                        List.of(Configs.of(Normalize.class), Configs.of(Pad.class)),
                        List.of("a", "b", "c"));
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Model<?> model = spec.model().build(spec.classes());
            model.initialize(manager, 3);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(0).toMetadata());
            Checkpoints.save(file, Checkpoint.of(model, metadata));
        }
        return file;
    }

    /** Writes photographs of several sizes, photo0.png to photo6.png, and one that is broken. */
    static Path photos(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (int i = 0; i < 7; i++) {
            BufferedImage image =
                    new BufferedImage(64 + 8 * i, 96 - 8 * i, BufferedImage.TYPE_INT_RGB);
            for (int y = 0; y < image.getHeight(); y++) {
                for (int x = 0; x < image.getWidth(); x++) {
                    image.setRGB(x, y, (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> i));
                }
            }
            ImageIO.write(image, "png", folder.resolve("photo" + i + ".png").toFile());
        }
        Files.writeString(folder.resolve("broken.png"), "no photograph");
        return folder;
    }
}

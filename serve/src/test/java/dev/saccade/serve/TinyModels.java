package dev.saccade.serve;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Text;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.Detector;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.Segmenter;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import javax.imageio.ImageIO;

/** Narrow models of random weights, and photographs for them. */
final class TinyModels {

    private static final String BODY =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8, num_outs: %d}
            """;

    private static final String MASK_RCNN =
            Text.format(BODY, 5)
                    + """
                    head:
                      type: mask_rcnn
                      rpn_head: {feat_channels: 8}
                      bbox_head: {fc_out_channels: 8}
                      mask_head: {num_convs: 1, conv_out_channels: 8}
                      nms: {score_thr: 0.01}
                    """;

    private static final String SEMANTIC_FPN =
            Text.format(BODY, 4) + "head: {type: semantic_fpn, channels: 8}";

    private static final List<String> CLASSES = List.of("a \"b\"", "<c>", "d");

    private TinyModels() {}

    /** Returns a detector with masks. */
    static Detector detector(Path folder) {
        return Detector.load(checkpoint(folder.resolve("detector.safetensors"), MASK_RCNN));
    }

    static Segmenter segmenter(Path folder) {
        return Segmenter.load(checkpoint(folder.resolve("segmenter.safetensors"), SEMANTIC_FPN));
    }

    private static Path checkpoint(Path file, String yaml) {
        ModelConfig config = Configs.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class);
        ModelSpec spec =
                new ModelSpec(
                        config,
                        List.of(
                                new Resize(
                                        List.of(List.of(128, 96)),
                                        Resize.Mode.VALUE,
                                        true,
                                        List.of(),
                                        1),
                                Configs.of(Normalize.class),
                                Configs.of(Pad.class)),
                        CLASSES);
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = config.build(CLASSES);
            model.initialize(manager, 3);
            Checkpoints.save(file, Checkpoint.of(model, spec.toMetadata()));
        }
        return file;
    }

    /** Returns a file of a kind that Java writes; others of other patterns and sizes by number. */
    static byte[] photo(String kind, int number) throws IOException {
        BufferedImage image = new BufferedImage(120 + 8 * number, 90, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int color = (x / 7 * 0x1A0B05 + y / (3 + number) * 0x091F2C) ^ ((x * y) >> 3);
                image.setRGB(x, y, color);
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, kind, out);
        return out.toByteArray();
    }
}

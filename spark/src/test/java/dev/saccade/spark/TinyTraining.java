package dev.saccade.spark;

import com.google.common.base.Ascii;
import com.google.common.primitives.Ints;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.Rendezvous;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.imageio.ImageIO;

/** A run of 8 steps of two ranks on 8 photographs of a square each, in the files of a folder. */
final class TinyTraining {

    private static final int PHOTOS = 8;

    private static final String CONFIG =
            """
            model:
              backbone: {type: swin, embed_dim: 8, depths: [1, 1, 1, 1], num_heads: [1, 1, 1, 1]}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train: {type: coco, annotations: squares.json, images: .}
              batch_size: 1
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: sgd, learning_rate: 0.002, momentum: 0.9}
            schedule: {type: constant}
            max_gradient_norm: 1
            epochs: 2
            checkpoint: {every: {iterations: 3}}
            log_interval: 1
            """;

    private TinyTraining() {}

    /** Writes the data to a folder; returns the config of a run on it. */
    static RunConfig in(Path folder) throws IOException {
        Files.createDirectories(folder);
        List<String> photos = new ArrayList<>();
        List<String> squares = new ArrayList<>();
        for (int i = 0; i < PHOTOS; i++) {
            BufferedImage image = new BufferedImage(64, 48, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.setColor(new Color(60, 70 + 5 * i, 80));
            graphics.fillRect(0, 0, 64, 48);
            graphics.setColor(Color.YELLOW);
            graphics.fillRect(3 * i, 8, 24, 24);
            graphics.dispose();
            ImageIO.write(image, "png", folder.resolve(i + ".png").toFile());
            photos.add(
                    Text.format(
                            "{\"id\": %d, \"file_name\": \"%d.png\", \"width\": 64, \"height\": 48}",
                            i, i));
            squares.add(
                    Text.format(
                            ("{\"id\": %d, \"image_id\": %d, \"category_id\": 1, \"iscrowd\": 0,"
                                    + " \"area\": 576, \"bbox\": [%d, 8, 24, 24]}"),
                            i + 1,
                            i,
                            3 * i));
        }
        Files.writeString(
                folder.resolve("squares.json"),
                String.format(
                        Locale.ROOT,
                        "{\"images\": %s, \"annotations\": %s, \"categories\": [%s]}",
                        photos,
                        squares,
                        "{\"id\": 1, \"name\": \"square\"}"));
        return RunConfig.parse(CONFIG)
                .with("data.root=" + ConfigWriter.text(folder.toAbsolutePath().toString()));
    }

    /**
     * Returns the same, but that a rank fails some times; asks a folder how often it still does.
     */
    static RunConfig failing(RunConfig config, FailingHook.Way way, int rank, long step, Path times)
            throws IOException {
        return config.with(
                Text.format(
                        "hooks=[{type: failing, way: %s, rank: %d, step: %d, times: %s}]",
                        Ascii.toLowerCase(way.name()),
                        rank,
                        step,
                        ConfigWriter.text(times.toString())));
    }

    /** Writes a config. */
    static Path write(RunConfig config, Path file) throws IOException {
        return Files.writeString(file, ConfigWriter.yaml(Configs.unbind(config)));
    }

    /** Trains on two ranks that are threads; returns what they have saved last. */
    static byte[] withoutSpark(RunConfig config, Path folder) throws Exception {
        int port = Rendezvous.freePort();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<Outcome>> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Rendezvous at =
                        new Rendezvous("127.0.0.1", port, rank, 2, 0, Duration.ofSeconds(60));
                ranks.add(
                        threads.submit(
                                () -> {
                                    try (ProcessGroup group = ProcessGroup.join(at)) {
                                        return Training.of(config).on(group).start(folder);
                                    }
                                }));
            }
            for (Future<Outcome> rank : ranks) {
                rank.get();
            }
        } finally {
            threads.shutdownNow();
        }
        return last(folder);
    }

    /** Returns the tensors of the last checkpoint; its header also lists the failing hook. */
    static byte[] last(Path folder) throws IOException {
        byte[] all = Files.readAllBytes(new RunFolder(folder).last());
        long header = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return Arrays.copyOfRange(all, Long.BYTES + Ints.checkedCast(header), all.length);
    }
}

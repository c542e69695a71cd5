package dev.saccade.train;

import dev.saccade.core.Text;
import dev.saccade.train.config.RunConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Six photographs of a cell each, and a detector for them. */
final class CellRun {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train: {type: coco, annotations: labels.json, images: .}
              val: {type: coco, annotations: labels.json, images: .}
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: adamw, learning_rate: 0.001}
            schedule: {type: constant}
            reference_batch: 4
            log_interval: 2
            epochs: 2
            """;

    private CellRun() {}

    /** Writes the photographs, and their boxes. */
    static void writeData(Path folder) throws IOException {
        TinyRun.Photos.in(folder);
        StringBuilder images = new StringBuilder();
        StringBuilder boxes = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            String comma = i == 0 ? "" : ",";
            images.append(comma)
                    .append(Text.format("{\"id\":%d,\"file_name\":\"%d.png\",", i + 1, i))
                    .append("\"width\":40,\"height\":32}");
            boxes.append(comma)
                    .append(
                            Text.format(
                                    "{\"id\":%d,\"image_id\":%d,\"category_id\":7,", i + 1, i + 1))
                    .append(
                            Text.format(
                                    "\"bbox\":[%d,4,16,20],\"area\":320,\"iscrowd\":0}", 2 * i));
        }
        Files.writeString(
                folder.resolve("labels.json"),
                "{\"images\":["
                        + images
                        + "],\"annotations\":["
                        + boxes
                        + "],\"categories\":[{\"id\":7,\"name\":\"cell\"}]}");
    }

    /** Returns a config for them. */
    static RunConfig config(Path folder, String... overrides) throws IOException {
        Path file = Files.writeString(folder.resolve("run.yaml"), CONFIG);
        return RunConfig.load(file, overrides).with("data.root=" + folder);
    }
}

package dev.saccade.tune;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.Text;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import javax.imageio.ImageIO;

/** Small images with a bright square each, and a small detector for them. */
final class TinyData {

    private TinyData() {}

    /** Writes ten images for training and four for validation; returns the config. */
    static Path write(Path folder) throws IOException {
        write(folder, "train", 0, 10);
        write(folder, "val", 10, 14);
        return Files.writeString(
                folder.resolve("tiny.yaml"),
                Text.format(
                        """
                        model:
                          backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
                          neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
                          head: {type: retinanet, feat_channels: 32, stacked_convs: 1}
                        data:
                          root: %s
                          train: {type: coco, annotations: train.json, images: .}
                          val: {type: coco, annotations: val.json, images: .}
                          train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
                          val_transforms: [{type: normalize}, {type: pad}]
                        optimizer: {type: adamw, learning_rate: 0.002}
                        schedule: {type: constant, warmup: {iterations: 2}}
                        device: cpu
                        epochs: 3
                        """,
                        folder));
    }

    static ConfigNode.Mapping config(Path folder) throws IOException {
        return ConfigFile.load(write(folder), List.of());
    }

    /** Writes ten images of two classes for training and four for validation. */
    static ConfigNode.Mapping classifier(Path folder) throws IOException {
        for (int i = 0; i < 14; i++) {
            Path file = folder.resolve(i < 10 ? "train" : "val").resolve("class" + i % 2);
            Files.createDirectories(file);
            ImageIO.write(image(i), "png", file.resolve(i + ".png").toFile());
        }
        String yaml =
                Text.format(
                        """
                        model:
                          backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
                          head: {type: linear_cls}
                        data:
                          root: %s
                          train: {type: image_folder, folder: train}
                          val: {type: image_folder, folder: val}
                          train_transforms: [{type: random_flip}, {type: normalize}]
                          val_transforms: [{type: normalize}]
                        optimizer: {type: adamw, learning_rate: 0.002}
                        schedule: {type: timm_cosine, warmup_epochs: 1, warmup_learning_rate: 2e-4}
                        device: cpu
                        epochs: 3
                        """,
                        folder);
        return ConfigFile.load(Files.writeString(folder.resolve("classes.yaml"), yaml), List.of());
    }

    private static BufferedImage image(int i) {
        BufferedImage image = new BufferedImage(40, 32, BufferedImage.TYPE_INT_RGB);
        for (int y = 4; y < 24; y++) {
            for (int x = i; x < i + 16; x++) {
                image.setRGB(x, y, 0xFFE080 - 256 * i);
            }
        }
        return image;
    }

    private static void write(Path folder, String part, int first, int end) throws IOException {
        StringBuilder images = new StringBuilder();
        StringBuilder boxes = new StringBuilder();
        for (int i = first; i < end; i++) {
            ImageIO.write(image(i), "png", folder.resolve(i + ".png").toFile());
            String comma = i == first ? "" : ",";
            images.append(
                    Text.format(
                            "%s{\"id\":%d,\"file_name\":\"%d.png\",\"width\":40,\"height\":32}",
                            comma, i + 1, i));
            boxes.append(
                    Text.format(
                            "%s{\"id\":%d,\"image_id\":%d,\"category_id\":7,\"iscrowd\":0,"
                                    + "\"bbox\":[%d,4,16,20],\"area\":320}",
                            comma, i + 1, i + 1, i));
        }
        Files.writeString(
                folder.resolve(part + ".json"),
                Text.format(
                        "{\"images\":[%s],\"annotations\":[%s],\"categories\":[{\"id\":7,\"name\":"
                                + "\"cell\"}]}",
                        images, boxes));
    }
}

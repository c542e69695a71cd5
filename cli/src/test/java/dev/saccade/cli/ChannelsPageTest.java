package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs the commands of {@code channels.md} with small images of four channels and 12 bits. */
class ChannelsPageTest {

    @TempDir Path folder;

    @Test
    void thePageTrainsOnFourChannels() throws Exception {
        Path images = Files.createDirectories(folder.resolve("fields/images"));
        Path scenes = TinyRun.shared().scenes();
        String ending = "";
        try (Stream<Path> files = Files.list(scenes.resolve("images"))) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                ending = name.substring(name.lastIndexOf('.'));
                write(file, images.resolve(name.replace(ending, ".tif")));
            }
        }
        for (String file : List.of("annotations_train.json", "annotations_val.json")) {
            Files.writeString(
                    folder.resolve("fields").resolve(file),
                    Files.readString(scenes.resolve(file)).replace(ending + "\"", ".tif\""));
        }
        try (InputStream scene = ChannelsPageTest.class.getResourceAsStream("/scene.tif")) {
            Files.copy(scene, folder.resolve("scene.tif"));
        }
        String printed = PageRun.in(folder, "channels.md").run(this::quick);
        assertTrue(printed.contains("values of data.train: {type: normalize, mean: ["), printed);
        assertTrue(printed.contains("predictions.geojson: "), printed);
        assertTrue(printed.contains(" in EPSG:32632"), printed);
        assertTrue(Files.exists(folder.resolve("found/scene/predictions.geojson")));
        assertFalse(Files.exists(folder.resolve("found/predictions.geojson")));

        Path config = folder.resolve("new.yaml");
        CommandResult created =
                CommandResult.saccade("new", folder.resolve("fields"), "--out", config);
        assertEquals(0, created.code(), created.err());
        assertTrue(created.err().contains("4 channels of uint16, "), created.err());
        String text = Files.readString(config);
        assertTrue(text.contains("  channels: 4\n  range: [0, 4095]\n"), text);
        assertEquals(0, CommandResult.saccade("check", config).code());

        Path rgb = folder.resolve("rgb.png");
        Imgcodecs.imwrite(rgb.toString(), new Mat(40, 50, CvType.CV_8UC3, new Scalar(9)));
        CommandResult rejected = predict(rgb);
        assertEquals(2, rejected.code());
        assertTrue(rejected.err().contains("has 3 channels, expected 4"), rejected.err());

        Path bytes = folder.resolve("bytes.png");
        Imgcodecs.imwrite(bytes.toString(), new Mat(40, 50, CvType.CV_8UC4, Scalar.all(9)));
        CommandResult dark = predict(bytes);
        assertEquals(0, dark.code(), dark.err());
        String warning =
                "warning: "
                        + bytes
                        + ": has 8-bit values, which are dark in data.range [0.0, 4095.0]";
        assertEquals(2, dark.err().split(Pattern.quote(warning), -1).length, dark.err());

        CommandResult video = predict(Files.writeString(folder.resolve("clip.mp4"), "frames"));
        assertEquals(2, video.code());
        assertTrue(
                video.err().contains("clip.mp4: video frames are 8-bit RGB, but the model expects"),
                video.err());
    }

    private CommandResult predict(Path input) {
        return CommandResult.saccade(
                "predict",
                folder.resolve("runs/fields"),
                input,
                "--out",
                folder.resolve("found_" + input.getFileName()));
    }

    /** Writes red, green, blue and inverted green with 12 bits. */
    private static void write(Path rgb, Path tiff) throws IOException {
        OpenCv.load();
        Mat image = Imgcodecs.imread(rgb.toString());
        List<Mat> channels = new ArrayList<>();
        Core.split(image, channels);
        Mat inverted = new Mat();
        Core.bitwise_not(channels.get(1), inverted);
        channels.add(inverted);
        Mat merged = new Mat();
        Core.merge(channels, merged);
        Mat stored = new Mat();
        merged.convertTo(stored, CvType.CV_16U, 4095.0 / 255);
        assertTrue(Imgcodecs.imwrite(tiff.toString(), stored), tiff.toString());
    }

    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        quick.replaceAll(word -> word.equals("640x480") ? "64x48" : word);
        if (!words.get(1).equals("predict")) {
            quick.addAll(List.of("--data", folder.resolve("fields").toString()));
        }
        if (words.get(1).equals("train")) {
            quick.addAll(List.of("--epochs", "1", "--image-size", "96x72"));
        }
        return quick;
    }
}

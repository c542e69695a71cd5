package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Generates configs for images of four channels with 12 bits, and trains with them. */
class NewChannelsTest {

    private static final int EDGE = 64;

    @TempDir Path folder;

    @BeforeAll
    static void load() {
        OpenCv.load();
    }

    @Test
    void trainsASegmenter() throws IOException {
        Path data = folder.resolve("fields");
        for (String split : List.of("training", "validation")) {
            for (int i = 0; i < 4; i++) {
                writeImage(data.resolve("images/" + split + "/" + i + ".tif"), i);
                Mat labels = new Mat(EDGE, EDGE, CvType.CV_8U, new Scalar(1));
                square(labels, i).setTo(new Scalar(2));
                write(labels, data.resolve("annotations/" + split + "/" + i + ".png"));
            }
        }
        Files.writeString(data.resolve("classes.txt"), "soil\nfield\n");
        String config = trains(data, "images/validation");
        assertTrue(config.contains("val_transforms: [{type: resize}, {type: normalize, mean: ["));
    }

    @Test
    void trainsAClassifier() throws IOException {
        Path data = folder.resolve("crops");
        for (String split : List.of("train/wheat", "train/maize", "val/wheat", "val/maize")) {
            for (int i = 0; i < 4; i++) {
                writeImage(data.resolve(split + "/" + i + ".tif"), split.hashCode() + i);
            }
        }
        trains(data, "val/wheat");
    }

    /** Writes a config, checks it, trains two steps and predicts; returns the config. */
    private String trains(Path data, String images) throws IOException {
        Path config = folder.resolve("new.yaml");
        String created = run("new", data, "--out", config);
        assertTrue(created.contains("4 channels of uint16, 100 to 4000 in "), created);
        String text = Files.readString(config);
        assertTrue(text.contains("  channels: 4\n  range: [0, 4095]\n"), text);
        String checked = run("check", config);
        assertFalse(checked.contains(" warning "), checked);
        assertEquals(firstMean(checked), firstMean(text), 0.006);
        Path run = folder.resolve("run");
        List<Object> train = new ArrayList<>(List.of("train", config, "--out", run));
        train.addAll(List.of("--iterations", "2", "--batch-size", "2", "--image-size", "64x64"));
        for (String set :
                List.of(
                        "model.backbone.stem_channels=4",
                        "model.backbone.base_channels=4",
                        "schedule.warmup.iterations=1",
                        "evaluation.every={iterations: 2}",
                        "checkpoint.every={iterations: 2}")) {
            train.addAll(List.of("--set", set));
        }
        run(train.toArray());
        Path found = folder.resolve("found");
        run("predict", run, data.resolve(images), "--out", found);
        assertTrue(Files.readString(found.resolve("predictions.json")).contains("3.tif"));
        run("browse", config, "--out", folder.resolve("browsed"));
        Path copy = folder.resolve("copy.safetensors");
        Files.copy(run.resolve("checkpoints/best.safetensors"), copy);
        assertTrue(run("info", copy).contains("(validation images are not available)"));
        List<Object> bench = new ArrayList<>(List.of("bench", "model", config, "--train"));
        bench.addAll(List.of("--size", "64x64", "--runs", 1, "--max-batch-size", 0));
        run(bench.toArray());
        return text;
    }

    private static double firstMean(String text) {
        Matcher mean = Pattern.compile("mean: \\[([\\d.]+)").matcher(text);
        assertTrue(mean.find(), text);
        return Double.parseDouble(mean.group(1));
    }

    @Test
    void convertsLabelsOfAnyImages() throws IOException {
        Path yolo = folder.resolve("yolo");
        Files.createDirectories(yolo.resolve("labels"));
        Files.writeString(yolo.resolve("classes.txt"), "field");
        for (int i = 0; i < 6; i++) {
            Files.writeString(yolo.resolve("labels/" + i + ".txt"), "0 0.5 0.5 0.5 0.5");
            writeArray(yolo.resolve("images/" + i + ".npy"), i);
        }
        String checked = run("check", yolo);
        assertTrue(checked.contains("0 errors, 0 warnings"), checked);
        Path coco = folder.resolve("coco");
        run("convert-data", yolo, "--out", coco, "--val-fraction", "0.4");
        assertArrayEquals(
                Files.readAllBytes(yolo.resolve("images/2.npy")),
                Files.readAllBytes(coco.resolve("images/2.npy")));
        Path config = folder.resolve("coco.yaml");
        String created = run("new", coco, "--out", config);
        assertTrue(created.contains("13 channels of uint16, "), created);
        assertTrue(Files.readString(config).contains("  channels: 13\n"));
    }

    private static String run(Object... arguments) {
        CommandResult result = CommandResult.saccade(arguments);
        assertEquals(0, result.code(), result.err());
        return result.out() + result.err();
    }

    private static void writeImage(Path file, int variant) throws IOException {
        Mat image = new Mat(EDGE, EDGE, CvType.CV_16UC4, new Scalar(100, 900, 300, 200));
        square(image, variant).setTo(new Scalar(4000, 1000, 2000, 3000));
        // Images with the same content are reported.
        image.put(0, 0, Math.floorMod(file.toString().hashCode(), 1000) + 100, 900, 300, 200);
        write(image, file);
    }

    private static Mat square(Mat image, int variant) {
        int start = 4 + Math.floorMod(variant, 16);
        return image.submat(start, start + 32, start, start + 32);
    }

    private static void write(Mat image, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        assertTrue(Imgcodecs.imwrite(file.toString(), image), file.toString());
    }

    /** Writes 13 channels of 16 bits. */
    private static void writeArray(Path file, int value) throws IOException {
        Files.createDirectories(file.getParent());
        String header = "{'descr': '<u2', 'fortran_order': False, 'shape': (40, 48, 13), }";
        byte[] array = new byte[128 + 2 * 40 * 48 * 13];
        byte[] start = "\u0093NUMPY\1\0v\0".getBytes(ISO_8859_1);
        System.arraycopy(start, 0, array, 0, start.length);
        String padded = header + " ".repeat(117 - header.length()) + "\n";
        byte[] text = padded.getBytes(ISO_8859_1);
        System.arraycopy(text, 0, array, start.length, text.length);
        for (int i = 128; i < array.length; i += 2) {
            array[i] = (byte) (i * 7 + value);
            array[i + 1] = 5;
        }
        Files.write(file, array);
    }
}

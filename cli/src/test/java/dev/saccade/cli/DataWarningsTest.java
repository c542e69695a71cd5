package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.train.Training;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Warnings about a data set reach users of check, new and train alike. */
class DataWarningsTest {

    @TempDir Path folder;

    private final List<String> images = new ArrayList<>();
    private final List<String> objects = new ArrayList<>();

    private void image(String name, int width, int height, int seed) throws IOException {
        OpenCv.load();
        Path file = folder.resolve("images").resolve(name);
        Files.createDirectories(file.getParent());
        Mat pixels = new Mat(height, width, CvType.CV_8UC3);
        Core.setRNGSeed(seed);
        Core.randu(pixels, 0, 256);
        ImageFiles.write(pixels, file);
        pixels.release();
        declare(name, width, height);
    }

    private void declare(String name, int width, int height) {
        images.add(
                Text.format(
                        "{\"id\": %d, \"file_name\": \"%s\", \"width\": %d, \"height\": %d}",
                        images.size() + 1, name, width, height));
    }

    private void object(double x, double y, double width, double height, String more) {
        objects.add(
                Text.format(
                        "{\"id\": %d, \"image_id\": %d, \"category_id\": 1, \"bbox\": [%s, %s, %s,"
                                + " %s], \"area\": 9%s}",
                        objects.size() + 1, images.size(), x, y, width, height, more));
    }

    private void write(String name) throws IOException {
        Files.writeString(
                folder.resolve(name),
                Text.format(
                        "{\"images\": [%s], \"annotations\": [%s], \"categories\": [{\"id\": 1,"
                                + " \"name\": \"dot\"}]}",
                        String.join(", ", images), String.join(", ", objects)));
        images.clear();
        objects.clear();
    }

    private void assertWarned(String... expected) {
        Path config = folder.resolve("made.yaml");
        CommandResult check = saccade("check", folder);
        assertEquals(0, check.code(), check.out());
        CommandResult made = saccade("new", folder, "--out", config, "--force");
        assertEquals(0, made.code(), made.err());
        List<String> trained =
                Training.of(RunConfig.load(config)).check(false, () -> {}).warnings();
        for (String text : expected) {
            assertTrue(check.out().contains(text), check.out());
            assertTrue(made.err().contains(text), made.err());
            assertTrue(String.join("\n", trained).contains(text), trained.toString());
        }
    }

    @Test
    void copiesOfImages() throws IOException {
        image("a.png", 64, 48, 1);
        object(4, 4, 20, 20, "");
        declare("a.png", 64, 48);
        object(9, 9, 20, 20, "");
        image("b.png", 64, 48, 2);
        object(4, 4, 20, 20, "");
        write("train.json");
        image("c.png", 64, 48, 2);
        object(4, 4, 20, 20, "");
        declare("a.png", 64, 48);
        object(4, 4, 20, 20, "");
        write("val.json");
        assertWarned(
                "image 2: is the same file as image 1 (",
                "image 1: has the same content as image 3 of data.train (",
                "image 2: is the same file as image 1 of data.train (");
    }

    @Test
    void smallObjects() throws IOException {
        image("a.png", 3000, 2000, 1);
        object(4, 4, 10, 10, "");
        write("train.json");
        assertWarned("1 of 1 objects (most of dot) are smaller than 4 pixels in the model input");
    }

    @Test
    void rejectsOutlinesOutsideTheirBoxes() throws IOException {
        image("a.png", 64, 48, 1);
        for (int i = 0; i < 4; i++) {
            object(4 + i, 4, 8, 8, ", \"segmentation\": [[4, 36, 12, 36, 12, 44, 4, 44]]");
        }
        write("train.json");
        Path config = folder.resolve("made.yaml");
        for (CommandResult ended :
                List.of(saccade("check", folder), saccade("new", folder, "--out", config))) {
            assertEquals(2, ended.code(), ended.err());
            String all = ended.out() + ended.err();
            assertTrue(all.contains("4 of 4 outlines do not match their bboxes"), all);
            assertTrue(all.contains("y is flipped"), all);
        }
        assertFalse(Files.exists(config));
    }
}

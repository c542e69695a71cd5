package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A folder of labels that a test writes, and what is read of it. */
record Labels(Path folder) {

    Labels text(String name, String... lines) {
        return bytes(name, (String.join("\n", lines) + "\n").getBytes(UTF_8));
    }

    Labels image(String name, int width, int height) {
        return bytes(name, ImageFiles.png(width, height, BufferedImage.TYPE_3BYTE_BGR));
    }

    Labels bytes(String name, byte[] content) {
        try {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.write(file, content);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns what is read, of the only format that the folder looks like. */
    SourceLabels read(SourceFormat format) {
        assertEquals(List.of(format), SourceFormat.in(folder));
        return format.read(folder, () -> {});
    }

    /** Returns all findings, without the path of the folder. */
    List<String> findings(SourceFormat format) {
        return findings(format.read(folder, () -> {}));
    }

    List<String> findings(SourceLabels labels) {
        List<String> told = new ArrayList<>();
        Stream.concat(
                        labels.findings().stream(),
                        labels.images().stream().flatMap(image -> image.findings().stream()))
                .forEach(
                        finding ->
                                told.add(
                                        (finding.severity() == Finding.Severity.ERROR
                                                        ? "ERROR "
                                                        : "warning ")
                                                + finding.toString()
                                                        .replace(folder + "/", "")
                                                        .replace(folder.toString(), ".")));
        return told;
    }

    /** Returns each object as its class, box and number of points. */
    static List<String> describe(SourceLabels labels) {
        List<String> told = new ArrayList<>();
        for (LabeledImage image : labels.images()) {
            for (Annotation object : image.objects()) {
                Annotation.Bbox box = object.box();
                String outline = "";
                if (object.segmentation() instanceof Segmentation.Polygons polygons) {
                    outline = " " + polygons.rings().stream().map(r -> r.length / 2).toList();
                } else if (object.segmentation() instanceof Segmentation.Runs runs) {
                    outline = " " + runs.counts();
                }
                double[] numbers = {box.x(), box.y(), box.width(), box.height()};
                told.add(
                        String.format(
                                Locale.ROOT,
                                "%s %s %s%s%s",
                                image.name(),
                                labels.classes().get(object.label()),
                                Arrays.toString(numbers),
                                outline,
                                object.crowd() ? " crowd" : ""));
            }
        }
        return told;
    }
}

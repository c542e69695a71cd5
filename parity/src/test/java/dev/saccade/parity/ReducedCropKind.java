package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.pillow.RandomResizedCrop;

import org.opencv.core.Mat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Crops of JPEGs decoded at a reduced size; pixels must be equal. */
final class ReducedCropKind implements Kind {

    @Override
    public void run(Case recorded) {
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            Settings draw = draws.get(k);
            byte[] jpeg = recorded.array("jpeg" + draw.integer("image")).bytes();
            try (Sample result = crop(draw, jpeg)) {
                recorded.compare("out" + k, Pixels.of(result.image()), Tolerance.EXACT);
            }
        }
    }

    private static Sample crop(Settings draw, byte[] jpeg) {
        List<Integer> full = draw.integers("full");
        List<Integer> crop = draw.integers("crop");
        List<Integer> size = draw.integers("size");
        int reduction = draw.integer("reduction");
        Mat pixels = decode(jpeg, new Size(full.get(0), full.get(1)), reduction);
        Size reduced = new Size(pixels.rows(), pixels.cols());
        assertEquals((full.get(0) + reduction - 1) / reduction, reduced.height());
        ImageInfo info =
                ImageInfo.of(new Size(full.get(0), full.get(1)))
                        .resized(reduced, 1f / reduction, 1f / reduction);
        return new RandomResizedCrop(
                        size,
                        List.of(0.08, 1.0),
                        List.of(0.75, 1.25),
                        PillowKind.interpolation(draw),
                        true)
                .crop(
                        Sample.of(pixels, info, 0),
                        new RandomResizedCrop.Crop(
                                crop.get(0), crop.get(1), crop.get(2), crop.get(3)),
                        PillowKind.interpolation(draw));
    }

    private static Mat decode(byte[] jpeg, Size size, int reduction) {
        try {
            Path file = Files.createTempFile("reduced", ".jpg");
            try {
                Files.write(file, jpeg);
                return ImageReader.read(file, size, reduction);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

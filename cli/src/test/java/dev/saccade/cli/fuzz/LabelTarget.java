package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ade20k.Ade20kDataset;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Label maps in the layout of ADE20K, beside one image that has nothing wrong with it. */
final class LabelTarget implements FuzzTarget {

    private static final Ade20kDataset.Config CONFIG =
            Configs.of(
                    Ade20kDataset.Config.class,
                    "images=photos",
                    "annotations=labels",
                    "reduce_zero_label=false",
                    "image_suffix=.png");

    private static final int SIZE_END = 24;
    private static final long BYTES_PER_PIXEL = 8;

    /** More are refused before anything is made of them. */
    private static final long MAX_PIXELS = 178_956_970;

    private Optional<Dataset> dataset = Optional.empty();

    @Override
    public String name() {
        return "labels";
    }

    @Override
    public Format format() {
        return new PngChunks();
    }

    @Override
    public List<byte[]> seeds() {
        return ImageSeeds.labels();
    }

    @Override
    public List<byte[]> words() {
        return Bytes.split("tRNS|PLTE|gAMA|IDAT|IEND");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        if (dataset.isEmpty()) {
            Files.createDirectories(Path.of("photos"));
            Files.createDirectories(Path.of("labels"));
            Files.write(Path.of("photos", "one.png"), ImageSeeds.png().get(0));
            Files.write(Path.of("labels", "one.png"), input);
            dataset = Optional.of(CONFIG.open(Path.of("")));
        }
        Files.write(Path.of("labels", "one.png"), input);
        LabelMap labels = dataset.get().labels(0);
        assertEquals(dataset.get().image(0).size(), labels.size());
    }

    /** Returns what any input may take, and what the pixels do that its header declares. */
    @Override
    public long allowance(byte[] input) {
        long pixels = input.length < SIZE_END ? 0 : pixels(ByteBuffer.wrap(input));
        return FuzzTarget.super.allowance(input) + BYTES_PER_PIXEL * Math.min(pixels, MAX_PIXELS);
    }

    private static long pixels(ByteBuffer png) {
        long width = Math.max(0, png.getInt(SIZE_END - 2 * Integer.BYTES));
        return width * Math.max(0, png.getInt(SIZE_END - Integer.BYTES));
    }
}

package dev.saccade.train.extend;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Images that an extended run stores in its folder, to train on them again.
 *
 * <p>{@code replay/annotations.json} lists the images for the next extension.
 */
final class ReplayImages {

    /** Labels of the replayed images of this run. */
    static final String LABELS = "replay/train.json";

    static final String IMAGES = "replay/images";

    private static final String NEXT = "replay/annotations.json";

    private final OutputFolder folder;
    private final PixelFormat pixels;

    /** Names of stored images by original and stored file. */
    private final Map<Path, String> names = new HashMap<>();

    private int stored;
    private long bytes;

    ReplayImages(OutputFolder folder, PixelFormat pixels) {
        this.folder = folder;
        this.pixels = pixels;
    }

    /** Opens the images to select from: stored images of a run, or else its training set. */
    static Dataset source(Path run, RunConfig config) {
        Path stored = run.resolve(NEXT);
        try {
            return Files.isRegularFile(stored)
                    ? CocoDataset.open(stored, run.resolve(IMAGES), List.of())
                    : DataReports.trainingSet(config, "the extension");
        } catch (SaccadeException e) {
            throw SaccadeException.user(
                            e,
                            "%s: its training images cannot be replayed; restore them, or set"
                                    + " replay to 0: %s",
                            run,
                            e.getMessage())
                    .withSettings("replay");
        }
    }

    /** Stores images; returns their names below {@link #IMAGES}. */
    List<String> add(Dataset images) {
        List<String> all = new ArrayList<>();
        for (ImageFile image : images.images()) {
            Path file = image.file().toAbsolutePath().normalize();
            if (!names.containsKey(file)) {
                String name = store(file);
                names.put(file, name);
                names.put(folder.resolve(IMAGES).resolve(name), name);
                stored++;
            }
            all.add(names.get(file));
        }
        return all;
    }

    private String store(Path file) {
        String original = file.getFileName().toString();
        // Images of an extended run already have a number.
        String name = Text.format("%05d_%s", stored + 1, original.replaceFirst("^[0-9]{5}_", ""));
        Path copy = Path.of(IMAGES, name);
        add(copy, file);
        List<Path> extraFiles = pixels.extraFiles(file);
        for (int i = 0; i < extraFiles.size(); i++) {
            add(pixels.extraFiles(copy).get(i), extraFiles.get(i));
        }
        return name;
    }

    private void add(Path copy, Path file) {
        folder.add(copy.toString(), file);
        try {
            bytes += Files.size(file);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Stores at most {@code count} images of the extended training set for the next extension. */
    void storeNext(Dataset trained, int count) {
        Dataset selected = DatasetSubset.of(trained, ReplaySelection.select(trained, count));
        CompletedImages.complete(selected, add(selected), trained.classes()).write(folder, NEXT);
    }

    long bytes() {
        return bytes;
    }
}

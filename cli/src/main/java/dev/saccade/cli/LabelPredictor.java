package dev.saccade.cli;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.Segmenter;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Tells the class of every pixel: writes a label map and a picture of it for each photograph. */
final class LabelPredictor implements Predictor {

    private final Segmenter segmenter;
    private final Pictures pictures;
    private final Set<String> seen = new HashSet<>();

    /** Takes a segmenter, which it does not close. */
    LabelPredictor(Segmenter segmenter, Pictures pictures) {
        this.segmenter = segmenter;
        this.pictures = pictures;
    }

    /**
     * A class in a photograph.
     *
     * @param label its name
     * @param pixels how many are of it, at least 1
     * @param share of all pixels, above 0 to 1
     */
    record Region(String label, long pixels, double share) {}

    /** Returns the classes of the photograph, that of most pixels first. */
    @Override
    public List<Region> predict(Path photo) {
        LabelMap labels = segmenter.segment(photo);
        pictures.write(photo, labels);
        List<String> classes = segmenter.classes();
        long[] pixels = labels.histogram(classes.size());
        double all = labels.size().area();
        List<Region> regions =
                IntStream.range(0, classes.size())
                        .filter(label -> pixels[label] > 0)
                        .mapToObj(
                                label ->
                                        new Region(
                                                classes.get(label),
                                                pixels[label],
                                                pixels[label] / all))
                        .sorted(Comparator.comparingLong(Region::pixels).reversed())
                        .toList();
        regions.forEach(region -> seen.add(region.label()));
        return regions;
    }

    @Override
    public String summary() {
        return seen.size() + " classes";
    }
}

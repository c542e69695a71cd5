package dev.saccade.datasets;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Recorded results of the original code, in {@code recorded/}. */
public final class Recorded {

    private Recorded() {}

    /** Objects: four corners each, labels, and masks as COCO's strings, or none. */
    public record Objects(List<Double> boxes, List<Integer> labels, List<String> masks) {

        /** Returns the objects of an image. */
        public Instances read(Size size) {
            float[] corners = new float[boxes.size()];
            for (int i = 0; i < corners.length; i++) {
                corners[i] = boxes.get(i).floatValue();
            }
            return Instances.groundTruth(
                            Boxes.of(corners),
                            labels.stream().mapToInt(Integer::intValue).toArray())
                    .withMasks(masks.stream().map(runs -> Rle.fromString(size, runs)).toList());
        }
    }

    /** Reads a file of {@code recorded/}. */
    public static <T extends Record> T read(String name, Class<T> type) throws IOException {
        try (InputStream file = Recorded.class.getResourceAsStream("recorded/" + name)) {
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return Configs.bind(ConfigFile.parse(text, name), type);
        }
    }
}

package dev.saccade.cli.fuzz;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.coco.IouType;

import java.util.List;
import java.util.function.Supplier;

/** All doors. */
final class Doors {

    private static final ImmutableMap<String, Supplier<Door>> ALL =
            ImmutableMap.<String, Supplier<Door>>builder()
                    .put("jpeg", () -> new ImageDoor("jpeg", new JpegSegments(), ImageSeeds.jpeg()))
                    .put("png", () -> new ImageDoor("png", new PngChunks(), ImageSeeds.png()))
                    .put("bmp", () -> new ImageDoor("bmp", Format.BYTES, ImageSeeds.bmp()))
                    .put("tiff", () -> new ImageDoor("tiff", Format.BYTES, ImageSeeds.tiff()))
                    .put("webp", () -> new ImageDoor("webp", new RiffChunks(), ImageSeeds.webp()))
                    .put("labels", LabelDoor::new)
                    .put("coco", CocoDoor::new)
                    .put("results_boxes", () -> new ResultsDoor("results_boxes", IouType.BOX))
                    .put("results_masks", () -> new ResultsDoor("results_masks", IouType.MASK))
                    .put("rle_strings", MaskDoor::ofStrings)
                    .put("rle_counts", MaskDoor::ofCounts)
                    .put("rle_polygons", MaskDoor::ofPolygons)
                    .put("safetensors", CheckpointDoor::ofSafeTensors)
                    .put("zip", CheckpointDoor::ofZip)
                    .put("legacy", CheckpointDoor::ofLegacy)
                    .put("configs", ConfigDoor::ofTexts)
                    .put("settings", ConfigDoor::ofSettings)
                    .put("models", ModelDoor::new)
                    .put("log", LogDoor::new)
                    .put("commands", CommandDoor::new)
                    .build();

    /** The names of all doors. */
    static final List<String> NAMES = ALL.keySet().asList();

    private Doors() {}

    /** Returns a door, in front of which nobody has been. */
    static Door of(String name) {
        return ALL.get(name).get();
    }
}

package dev.saccade.cli.fuzz;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.coco.IouType;

import java.util.List;
import java.util.function.Supplier;

/** All targets. */
final class FuzzTargets {

    private static final ImmutableMap<String, Supplier<FuzzTarget>> ALL =
            ImmutableMap.<String, Supplier<FuzzTarget>>builder()
                    .put(
                            "jpeg",
                            () -> new ImageTarget("jpeg", new JpegSegments(), ImageSeeds.jpeg()))
                    .put("png", () -> new ImageTarget("png", new PngChunks(), ImageSeeds.png()))
                    .put("bmp", () -> new ImageTarget("bmp", Format.BYTES, ImageSeeds.bmp()))
                    .put("tiff", () -> new ImageTarget("tiff", Format.BYTES, ImageSeeds.tiff()))
                    .put("webp", () -> new ImageTarget("webp", new RiffChunks(), ImageSeeds.webp()))
                    .put("labels", LabelTarget::new)
                    .put("coco", CocoTarget::new)
                    .put("results_boxes", () -> new ResultsTarget("results_boxes", IouType.BOX))
                    .put("results_masks", () -> new ResultsTarget("results_masks", IouType.MASK))
                    .put("rle_strings", MaskTarget::ofStrings)
                    .put("rle_counts", MaskTarget::ofCounts)
                    .put("rle_polygons", MaskTarget::ofPolygons)
                    .put("safetensors", CheckpointTarget::ofSafeTensors)
                    .put("zip", CheckpointTarget::ofZip)
                    .put("legacy", CheckpointTarget::ofLegacy)
                    .put("configs", ConfigTarget::ofTexts)
                    .put("settings", ConfigTarget::ofSettings)
                    .put("models", ModelTarget::new)
                    .put("log", LogTarget::new)
                    .put("commands", CommandTarget::new)
                    .build();

    /** The names of all targets. */
    static final List<String> NAMES = ALL.keySet().asList();

    private FuzzTargets() {}

    /** Returns a target, in front of which nobody has been. */
    static FuzzTarget of(String name) {
        return ALL.get(name).get();
    }
}

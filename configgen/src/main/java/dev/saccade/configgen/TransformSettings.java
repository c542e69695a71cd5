package dev.saccade.configgen;

import dev.saccade.core.Text;

/** Channels, input size and transforms of a config. */
final class TransformSettings {

    private static final String VERTICAL_FLIP =
            "    # For images that may be upside down, such as microscope or aerial images:\n"
                    + "    # - {type: random_flip, probability: 0.5, direction: vertical}";

    private TransformSettings() {}

    static void add(ConfigText text, DatasetContents contents, Plan plan, Machine machine) {
        contents.stored().ifPresent(pixels -> text.add("%s", pixels.settings()));
        String normalize =
                contents.stored().map(StoredPixels::normalize).orElse("{type: normalize}");
        switch (contents.targets()) {
            case CLASSES -> addClassifier(text, contents, plan, normalize);
            case LABEL_MAPS -> {
                addSize(text, contents, plan);
                addSegmenter(text, contents, plan, machine, normalize);
            }
            case BOXES, MASKS, MASKS_AND_LABEL_MAPS -> {
                addSize(text, contents, plan);
                addDetector(text, contents, normalize);
            }
        }
    }

    private static void addSize(ConfigText text, DatasetContents contents, Plan plan) {
        double factor = (double) plan.longEdge() / Math.max(1, contents.longEdge());
        double small = contents.smallObject() * factor;
        text.add(
                "  image_size: [%d, %d]\t%s",
                plan.longEdge(),
                plan.shortEdge(),
                small == 0 ? "" : Text.format("small objects are about %.0f pixels wide", small));
    }

    private static void addDetector(ConfigText text, DatasetContents contents, String normalize) {
        text.add(
                """
                  train_transforms:
                    - {type: resize, ratio_range: [0.7, 1.4]}
                    - {type: random_crop, mode: image_size}
                    - {type: random_flip, probability: 0.5}
                %s
                    - %s
                    - {type: pad}
                """,
                VERTICAL_FLIP, normalize);
        if (contents.stored().isPresent()) {
            text.add("  val_transforms: [{type: resize}, %s, {type: pad}]", normalize);
        }
    }

    private static void addSegmenter(
            ConfigText text,
            DatasetContents contents,
            Plan plan,
            Machine machine,
            String normalize) {
        int most = Math.max(32, Math.min(plan.longEdge(), plan.shortEdge()) / 32 * 32);
        int crop = Math.min(machine.gpu() ? 512 : 256, most);
        boolean isRgb8 = contents.stored().isEmpty();
        text.add(
                """
                  crop_size: [%d, %d]\tpart of an image in a training step
                  train_transforms:
                    - {type: resize, ratio_range: [0.5, 2.0]}
                    - {type: random_crop, mode: absolute, cat_max_ratio: 0.75}
                    - {type: random_flip, probability: 0.5}%s
                    - %s
                    - {type: pad}
                  val_transforms: [{type: resize}, %s]
                """,
                crop,
                crop,
                isRgb8 ? "\n    - {type: photometric_distortion, variant: segmentation}" : "",
                normalize,
                normalize);
    }

    private static void addClassifier(
            ConfigText text, DatasetContents contents, Plan plan, String normalize) {
        int edge = plan.shortEdge();
        text.add(
                """
                  image_size: [%d, %d]\tinput size; images have about %dx%d pixels
                  train_transforms:
                    # Larger crops than the [0.08, 1] of ImageNet, for short training.
                    - {type: random_resized_crop, scale: [0.35, 1]}
                    - {type: random_flip, probability: 0.5}
                %s
                    - %s
                  val_transforms:
                    - {type: resize_edge}
                    - {type: center_crop}
                    - %s
                """,
                edge,
                edge,
                contents.longEdge(),
                contents.shortEdge(),
                VERTICAL_FLIP,
                normalize,
                normalize);
    }
}

package dev.saccade.tune;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Transform;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The dimensions that are searched by default, as far as they apply to a config. */
final class DefaultDimensions {

    /** Names in the order in which values are applied: components before their settings. */
    static final List<String> NAMES =
            List.of(
                    "backbone",
                    "head",
                    "frozen_stages",
                    "learning_rate",
                    "layer_decay",
                    "image_size",
                    "augmentation",
                    "ema");

    /** Dimensions that hardly change the time of a step. */
    static final Set<String> WITHOUT_COST = Set.of("learning_rate", "layer_decay", "ema");

    private static final Map<String, String> KEYS =
            Map.of(
                    "backbone", "model.backbone",
                    "head", "model.head",
                    "frozen_stages", "model.backbone.frozen_stages",
                    "learning_rate", "optimizer.learning_rate",
                    "layer_decay", "optimizer.layer_decay",
                    "image_size", "data.image_size",
                    "augmentation", "data.train_transforms",
                    "ema", "ema");

    private static final double LEARNING_RATE_FACTOR = 4;
    private static final int SIZE_DIVISOR = 32;
    private static final int MAX_BACKBONES = 4;
    private static final String VERTICAL_FLIP = "{type: random_flip, direction: vertical}";

    private final RunConfig base;

    DefaultDimensions(RunConfig base) {
        this.base = base;
    }

    /** Returns whether a dimension of a user replaces a default dimension. */
    static boolean replaces(String own, String name) {
        String key = KEYS.get(name);
        return own.equals(name) || own.equals(key) || own.startsWith(key + ".");
    }

    List<Dimension> list() {
        List<Dimension> all = new ArrayList<>();
        add(all, "backbone", backbones());
        add(all, "head", heads());
        add(all, "frozen_stages", isPretrained() ? frozenStages() : List.of());
        double rate = base.optimizer().learningRate();
        all.add(
                new RangeDimension(
                        "learning_rate",
                        KEYS.get("learning_rate"),
                        rate / LEARNING_RATE_FACTOR,
                        rate * LEARNING_RATE_FACTOR,
                        false));
        add(all, "layer_decay", isPretrained() ? layerDecays() : List.of());
        add(all, "image_size", imageSizes());
        add(all, "augmentation", augmentations());
        add(
                all,
                "ema",
                base.ema().isPresent()
                        ? List.of(Choice.of("off", "ema=null"))
                        : List.of(Choice.of("on", "ema={}")));
        return all;
    }

    /** Adds a dimension unless all its values equal the base config or do not fit it. */
    private void add(List<Dimension> all, String name, List<Choice> choices) {
        List<Choice> fitting = choices.stream().filter(this::fits).toList();
        if (!fitting.isEmpty()) {
            all.add(new ListDimension(name, fitting));
        }
    }

    private boolean fits(Choice choice) {
        try {
            return !base.with(choice.overrides().toArray(String[]::new)).equals(base);
        } catch (SaccadeException e) {
            return false;
        }
    }

    private boolean isPretrained() {
        return base.initFrom().filter(name -> !name.equals(InitialWeights.NONE)).isPresent();
    }

    /** Returns other backbones whose ImageNet weights are downloaded. */
    private List<Choice> backbones() {
        return PretrainedWeights.all().stream()
                .filter(weights -> weights.recipe().isEmpty() && weights.find().isPresent())
                .limit(MAX_BACKBONES)
                .map(
                        weights ->
                                Choice.of(
                                        weights.name(),
                                        "model.backbone=" + backbone(weights),
                                        "init_from=" + weights.name()))
                .toList();
    }

    private static String backbone(PretrainedWeights weights) {
        ConfigNode.Mapping config = Configs.unbindChanges((Record) weights.backbone());
        if (weights.backbone().type().equals("resnet")) {
            config =
                    Configs.withOverrides(
                            config,
                            List.of("frozen_stages=1", "norm_eval=true"),
                            ((Record) weights.backbone()).getClass());
        }
        return ConfigWriter.valuesAsJson(config);
    }

    private List<Choice> heads() {
        HeadConfig head = base.model().head();
        List<String> known = List.copyOf(Configs.registered(HeadConfig.class).keySet());
        List<String> names =
                switch (head.targets()) {
                    case BOXES -> List.of("retinanet", "atss", "faster_rcnn");
                    case MASKS, MASKS_AND_LABEL_MAPS -> List.of("mask_rcnn", "cascade_mask_rcnn");
                    case LABEL_MAPS -> List.of("semantic_fpn", "upernet");
                    case CLASSES -> List.of();
                };
        return names.stream()
                .filter(name -> known.contains(name) && !name.equals(head.type()))
                .map(name -> Choice.of(name, headOverrides(head, name).toArray(String[]::new)))
                .toList();
    }

    private List<String> headOverrides(HeadConfig head, String name) {
        Map<String, String> old = Configs.unbind((Record) head).scalars();
        List<String> settings = new ArrayList<>();
        settings.add("type: " + name);
        boolean isDense = name.matches("retinanet|atss");
        for (String key : List.of("feat_channels", "stacked_convs", "nms_pre")) {
            if (isDense && old.containsKey(key)) {
                settings.add(key + ": " + old.get(key));
            }
        }
        if (old.containsKey("octave_base_scale")) {
            double scale = Double.parseDouble(old.get("octave_base_scale"));
            switch (name) {
                // One anchor per location, of 8 strides instead of 4 to 6.3.
                case "atss" -> settings.add("octave_base_scale: " + 2 * scale);
                case "retinanet" -> settings.add("octave_base_scale: " + scale / 2);
                // The first level has half the stride.
                case "faster_rcnn" -> settings.add(twoStage(old, Math.round(2 * scale)));
                default -> {}
            }
        }
        Stream<String> neck =
                switch (name) {
                    case "retinanet" -> Stream.of("start_level=1", "add_extra_convs=on_input");
                    case "atss" -> Stream.of("start_level=1", "add_extra_convs=on_output");
                    case "faster_rcnn" -> Stream.of("start_level=0", "add_extra_convs=none");
                    default -> Stream.of();
                };
        return Stream.concat(
                        Stream.of("model.head={" + String.join(", ", settings) + "}"),
                        neck.map(setting -> "model.neck." + setting))
                .toList();
    }

    /** Returns heads as wide as those of a dense head. */
    private static String twoStage(Map<String, String> dense, long anchorScale) {
        int channels = Integer.parseInt(dense.get("feat_channels"));
        return Text.format(
                "rpn_head: {feat_channels: %d, scales: [%d]}, bbox_head: {fc_out_channels: %d}",
                channels, anchorScale, 4 * channels);
    }

    private List<Choice> frozenStages() {
        return Stream.of(-1, 0, 1, 2)
                .map(n -> Choice.of(n.toString(), KEYS.get("frozen_stages") + "=" + n))
                .toList();
    }

    private List<Choice> layerDecays() {
        return Stream.of("0.9", "0.8", "0.65")
                .map(rate -> Choice.of(rate, "optimizer.layer_decay={rate: " + rate + "}"))
                .toList();
    }

    private List<Choice> imageSizes() {
        return base.data().size().imageSize().stream()
                .flatMap(size -> Stream.of(0.75, 1.25, 1.5).map(factor -> scaled(size, factor)))
                .distinct()
                .map(size -> Choice.of(size.toString(), KEYS.get("image_size") + "=" + size))
                .toList();
    }

    private static List<Integer> scaled(List<Integer> size, double factor) {
        return size.stream()
                .map(
                        edge ->
                                SIZE_DIVISOR
                                        * (int)
                                                Math.max(
                                                        1,
                                                        Math.round(edge * factor / SIZE_DIVISOR)))
                .toList();
    }

    private List<Choice> augmentations() {
        TargetKind targets = base.model().head().targets();
        if (targets == TargetKind.CLASSES) {
            return classifierAugmentations();
        }
        boolean isPixels = targets == TargetKind.LABEL_MAPS;
        String color =
                isPixels
                        ? "{type: photometric_distortion, variant: segmentation}"
                        : "{type: photometric_distortion}";
        List<Choice> levels = new ArrayList<>();
        levels.add(level("random scale", true));
        levels.add(level("random scale, flip both ways", true, VERTICAL_FLIP));
        levels.add(level("random scale, color", true, color));
        if (isPixels) {
            levels.add(level("random scale, flip both ways, color", true, VERTICAL_FLIP, color));
        } else {
            levels.add(level("fixed scale", false));
            if (targets.hasMasks()) {
                levels.add(level("random scale, copy-paste", true, "{type: copy_paste}"));
            } else {
                base.data().size().imageSize().ifPresent(size -> levels.add(mosaic(size)));
            }
        }
        return levels;
    }

    private List<Choice> classifierAugmentations() {
        return List.of(
                crops("small crops", "[0.08, 1]"),
                crops("large crops", "[0.5, 1]"),
                crops("flip both ways", "", VERTICAL_FLIP),
                crops("RandAugment", "", "{type: rand_augment}"));
    }

    /**
     * Returns the transforms of the config with other crops and transforms.
     *
     * @param scale range of the area of random crops; if empty, as in the config
     */
    private Choice crops(String label, String scale, String... added) {
        List<String> transforms = new ArrayList<>();
        for (Transform transform : base.data().trainTransforms()) {
            ConfigNode.Mapping config = Configs.unbindChanges((Record) transform);
            if (transform.type().equals("random_resized_crop") && !scale.isEmpty()) {
                config =
                        Configs.withOverrides(
                                config, List.of("scale=" + scale), ((Record) transform).getClass());
            }
            if (!transform.mustBeLast()) {
                transforms.add(ConfigWriter.valuesAsJson(config));
            }
        }
        Collections.addAll(transforms, added);
        return augmentation(label, transforms);
    }

    /** Returns a mosaic of four images that is cropped to the image size, without other scaling. */
    private Choice mosaic(List<Integer> size) {
        List<String> transforms =
                new ArrayList<>(
                        List.of(
                                Text.format(
                                        "{type: mosaic, img_scale: [%d, %d]}",
                                        size.get(0), size.get(1)),
                                Text.format(
                                        "{type: random_affine, scaling_ratio_range: [0.5, 1.5],"
                                                + " border: [%d, %d]}",
                                        -size.get(0) / 2, -size.get(1) / 2)));
        transforms.addAll(geometry(false));
        return augmentation("mosaic", transforms);
    }

    /**
     * Returns a level of augmentation.
     *
     * @param isRandomScale whether to resize randomly, to the scales of the config or default ones
     * @param added transforms after the horizontal flip
     */
    private Choice level(String label, boolean isRandomScale, String... added) {
        List<String> transforms = new ArrayList<>(geometry(isRandomScale));
        Collections.addAll(transforms, added);
        return augmentation(label, transforms);
    }

    /** Returns resizing, crops and the horizontal flip. */
    private List<String> geometry(boolean isRandomScale) {
        List<String> transforms = new ArrayList<>();
        boolean isCropped = false;
        for (Transform transform : base.data().trainTransforms()) {
            ConfigNode.Mapping config = Configs.unbindChanges((Record) transform);
            if (transform.type().equals("resize")) {
                transforms.add(resize((Record) transform, config, isRandomScale));
            } else if (transform.type().equals("random_crop") && isRandomScale) {
                transforms.add(ConfigWriter.valuesAsJson(config));
                isCropped = true;
            }
        }
        if (isRandomScale && !isCropped && base.data().size().imageSize().isPresent()) {
            transforms.add("{type: random_crop, mode: image_size}");
        }
        transforms.add("{type: random_flip}");
        return transforms;
    }

    private static String resize(Record resize, ConfigNode.Mapping config, boolean isRandomScale) {
        boolean isFixed =
                Configs.unbind(resize).scalars().keySet().stream()
                        .noneMatch(key -> key.startsWith("ratio_range["));
        if (isFixed != isRandomScale) {
            return ConfigWriter.valuesAsJson(config);
        }
        String range = isRandomScale ? "[0.7, 1.4]" : "[]";
        return ConfigWriter.valuesAsJson(
                Configs.withOverrides(config, List.of("ratio_range=" + range), resize.getClass()));
    }

    /** Returns transforms with the config's last ones, such as {@code normalize}. */
    private Choice augmentation(String label, List<String> transforms) {
        List<String> all = new ArrayList<>(transforms);
        for (Transform transform : base.data().trainTransforms()) {
            if (transform.mustBeLast()) {
                all.add(ConfigWriter.valuesAsJson(Configs.unbindChanges((Record) transform)));
            }
        }
        return Choice.of(
                label,
                all.stream()
                        .map(String::strip)
                        .collect(Collectors.joining(", ", KEYS.get("augmentation") + "=[", "]")));
    }
}

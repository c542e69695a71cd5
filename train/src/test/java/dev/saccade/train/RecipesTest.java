package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Sets;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.ParameterGroup;
import dev.saccade.train.schedules.RunLength;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Compares every file in {@code configs/} with its published recipe. */
class RecipesTest {

    /** The norm of the finest level, which RetinaNet's neck leaves out. */
    private static final String UNUSED_BY_RETINANET = "backbone.norm0.";

    private static final Path CONFIGS = Path.of("..", "configs");
    private static final Zoo ZOO = Zoo.packaged();
    private static final int COCO_CLASSES = 80;
    private static final int ADE20K_CLASSES = 150;
    private static final int IMAGENET_CLASSES = 1000;

    /** The 1,281,167 images of ImageNet-1K in batches of 1024. */
    private static final int IMAGENET_STEPS = 1251;

    /** The 117,266 photographs of COCO that are trained with, in groups of 16. */
    private static final int COCO_STEPS = 7330;

    /** The 20,210 photographs of ADE20K in batches of 16. */
    private static final int ADE20K_STEPS = 1263;

    private static final int BATCH = 16;

    /** Settings of a narrow model. */
    private static final ImmutableMap<String, String> NARROW =
            ImmutableMap.of(
                    "backbone\\.drop_path_rate", "0.1",
                    "neck\\.(.*\\.)?out_channels", "32",
                    "neck\\..*num_blocks", "1",
                    "head\\.(.*\\.)?(feat_channels|conv_out_channels)", "32",
                    "head\\..*fc_out_channels", "64",
                    "head\\..*train_proposals\\.max_per_img", "16",
                    "(auxiliary_)?head\\.channels", "32");

    private static final Size TINY = new Size(64, 64);

    /** Recipes of Swin, ELSA and Focal; beside LinGlo Swin follows the recipe of PVT. */
    private static final Pattern AS_SWIN =
            Pattern.compile(".*/(swin|elsa_swin|focal)_.*(?<!_40k_ade20k)");

    /** Of their parameters these do not decay. */
    private static final Pattern EXEMPT =
            Pattern.compile("absolute_pos_embed|relative_position_bias_table|norm");

    private static RunConfig recipe(String name, String... overrides) {
        Path file = CONFIGS.resolve(name + ".yaml");
        return Configs.bind(ConfigFile.load(file, List.of(overrides)), RunConfig.class);
    }

    @ParameterizedTest
    @MethodSource("names")
    void staysTheSameWithoutChanges(String name) {
        RunConfig config = recipe(name);
        assertEquals(config, config.with());
        assertEquals(recipe(name, "data.batch_size=3"), config.with("data.batch_size=3"));
    }

    private static Model<?> model(String name, RunConfig config) {
        int classes = COCO_CLASSES;
        if (name.endsWith("_ade20k")) {
            classes = ADE20K_CLASSES;
        } else if (name.endsWith("_imagenet")) {
            classes = IMAGENET_CLASSES;
        }
        return config.model().build(Collections.nCopies(classes, "thing"));
    }

    static Set<String> names() throws IOException {
        try (Stream<Path> files = Files.walk(CONFIGS)) {
            return files.map(file -> CONFIGS.relativize(file).toString())
                    .filter(name -> name.matches("(?!_base_).*/.*\\.yaml"))
                    .map(name -> name.substring(0, name.length() - ".yaml".length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    static List<String> namesOnCoco() throws IOException {
        return names().stream().filter(name -> name.endsWith("_coco")).toList();
    }

    static List<String> namesOnAde20k() throws IOException {
        return names().stream().filter(name -> name.endsWith("_ade20k")).toList();
    }

    static List<String> namesOnImagenet() throws IOException {
        return names().stream().filter(name -> name.endsWith("_imagenet")).toList();
    }

    static List<String> published() throws IOException {
        return Stream.of(namesOnCoco(), namesOnAde20k()).flatMap(List::stream).sorted().toList();
    }

    /** Compares with the number of all parameters in the code of the authors. */
    @ParameterizedTest
    @CsvFileSource(resources = "recipes.csv", useHeadersInDisplayName = true)
    void hasTheParametersOfTheOriginal(String name, long total) {
        assertEquals(total, model(name, recipe(name)).parameterCount());
    }

    @ParameterizedTest
    @MethodSource("published")
    void decaysWhatThePaperDecays(String name) {
        RunConfig config = recipe(name);
        Model<?> model = model(name, config);
        boolean asSwin = AS_SWIN.matcher(name).matches();
        double decay = publishedDecay(name);
        int members = 0;
        for (ParameterGroup group : ParameterGroup.split(model, config.optimizer())) {
            assertEquals(1, group.learningRateFactor());
            for (String parameter : group.parameters().keySet()) {
                boolean exempt = asSwin && EXEMPT.matcher(parameter).find();
                assertEquals(exempt ? 0 : decay, group.weightDecay(), parameter);
                members++;
            }
        }
        assertEquals(Gradients.trainable(model).size(), members);
    }

    private static double publishedDecay(String name) {
        boolean labels = name.endsWith("_ade20k");
        if (name.equals("htc/focal_large_fpn_3x_coco")) {
            return .1;
        }
        if (AS_SWIN.matcher(name).matches()) {
            return labels ? .01 : .05;
        }
        return labels && name.contains("resnet") ? 5e-4 : 1e-4;
    }

    /** After how many epochs the learning rate of a schedule falls, and the training ends. */
    private record Falls(int first, int second, int end) {

        static Falls of(String name) {
            return switch (name.replaceFirst(".*_(\\d+[xe])_coco", "$1")) {
                case "1x" -> new Falls(8, 11, 12);
                case "20e" -> new Falls(16, 19, 20);
                case "2x" -> new Falls(16, 22, 24);
                case "3x" -> new Falls(27, 33, 36);
                case "6x" -> new Falls(63, 69, 72);
                default -> throw new AssertionError(name);
            };
        }
    }

    @ParameterizedTest
    @MethodSource("namesOnCoco")
    void fallsAsPublishedOnCoco(String name) {
        RunConfig config = recipe(name, "data.batch_size=" + batch(name));
        Falls falls = Falls.of(name);
        RunLength length = config.length(COCO_STEPS, 1);
        assertEquals(epoch(falls.end()), length.iterations());
        double full = publishedRate(name);
        assertEquals(full, config.learningRate(1), 1e-12);
        assertEquals(full / 8, recipe(name).learningRate(1), 1e-12);
        Map<Long, Double> corners =
                Map.of(
                        0L,
                        .001,
                        250L,
                        .5005,
                        499L,
                        1 - .999 / 500,
                        500L,
                        1.0,
                        epoch(falls.first()) - 1,
                        1.0,
                        epoch(falls.first()),
                        .1,
                        epoch(falls.second()) - 1,
                        .1,
                        epoch(falls.second()),
                        .01,
                        length.iterations() - 1,
                        .01);
        corners.forEach(
                (step, factor) ->
                        assertEquals(
                                factor * full,
                                config.schedule().learningRate(full, step, length),
                                1e-9 * full,
                                "step " + step));
    }

    private static long epoch(int epoch) {
        return (long) epoch * COCO_STEPS;
    }

    @ParameterizedTest
    @MethodSource("namesOnAde20k")
    void fallsAsPublishedOnAde20k(String name) {
        int thousands = Integer.parseInt(name.replaceFirst(".*_(\\d+)k_ade20k", "$1"));
        int batch = thousands == 40 ? 2 * BATCH : BATCH;
        RunConfig config = recipe(name, "data.batch_size=" + batch);
        RunLength length = config.length(ADE20K_STEPS, 1);
        assertEquals(1000L * thousands, length.iterations());
        double full = publishedRate(name);
        assertEquals(full, config.learningRate(1), 1e-12);
        assertEquals(full / 8, recipe(name).learningRate(1), 1e-12);
        long last = length.iterations() - 1;
        Map<Long, Double> corners;
        if (name.startsWith("semantic_fpn")) {
            corners =
                    Map.of(
                            0L,
                            full,
                            20_000L,
                            full * Math.pow(.5, .9),
                            last,
                            full * Math.pow(1. / 40_000, .9));
        } else if (name.contains("resnet")) {
            corners =
                    Map.of(
                            0L,
                            .01,
                            length.iterations() / 2,
                            .0099 * Math.pow(.5, .9) + 1e-4,
                            last,
                            .0099 * Math.pow(1. / length.iterations(), .9) + 1e-4);
        } else {
            corners =
                    Map.of(
                            0L,
                            6e-11,
                            750L,
                            6e-5 * (.5 + .5e-6) * (1 - 750. / 160_000),
                            1500L,
                            6e-5 * (1 - 1500. / 160_000),
                            80_000L,
                            3e-5,
                            last,
                            6e-5 / 160_000);
        }
        corners.forEach(
                (step, rate) ->
                        assertEquals(
                                rate,
                                config.schedule().learningRate(full, step, length),
                                1e-9 * full,
                                "step " + step));
    }

    /** Like timm: no decay for norms, biases and positions; PVT's code has positions decay. */
    @ParameterizedTest
    @MethodSource("namesOnImagenet")
    void decaysAsPublishedOnImagenet(String name) {
        RunConfig config = recipe(name);
        boolean isResNet = name.contains("/resnet");
        double decay = isResNet ? 1e-4 : name.contains("elsa_swin_large") ? 1e-8 : .05;
        Model<?> model = model(name, config);
        for (ParameterGroup group : ParameterGroup.split(model, config.optimizer())) {
            assertEquals(1, group.learningRateFactor());
            group.parameters()
                    .forEach(
                            (key, parameter) -> {
                                boolean exempt =
                                        (key.matches(POSITIONS) && !key.contains("pos_embed"))
                                                || (key.contains("pos_embed")
                                                        && !name.contains("/pvt"))
                                                || parameter.getShape().dimension() == 1;
                                assertEquals(
                                        exempt && !isResNet ? 0 : decay, group.weightDecay(), key);
                            });
        }
    }

    private static final String POSITIONS =
            ".*(pos_embed|cls_token|relative_position_bias_table).*";

    @ParameterizedTest
    @MethodSource("namesOnImagenet")
    void schedulesAsPublishedOnImagenet(String name) {
        if (name.contains("/resnet")) {
            RunConfig config = recipe(name);
            RunLength length = config.length(5004, 1);
            assertEquals(.1, config.with("data.batch_size=256").learningRate(1), 1e-12);
            assertEquals(.1, config.schedule().learningRate(.1, 0, length), 1e-12);
            assertEquals(.001, config.schedule().learningRate(.1, 60 * 5004L, length), 1e-12);
            assertEquals(90 * 5004L, length.iterations());
            return;
        }
        boolean isTuned = name.contains("elsa_swin_large");
        boolean isElsa =
                name.matches(".*/(elsa_swin|unified_swin|dwconv_swin|dwnet)_.*") && !isTuned;
        RunConfig config = recipe(name, "data.batch_size=1024");
        RunLength length = config.length(IMAGENET_STEPS, 1);
        assertEquals(IMAGENET_STEPS * (isTuned ? 30L : isElsa ? 310 : 300), length.iterations());
        double full = isTuned ? 4e-5 : 1e-3;
        assertEquals(full, config.learningRate(1), 1e-12);
        double first = isTuned ? 4e-8 : name.contains("/focal") ? 1e-5 : 1e-6;
        assertEquals(first, config.schedule().learningRate(full, 0, length), 1e-12);
        int warmup = 20;
        if (isTuned || name.matches(".*/(pvt|linglo)_.*|.*/deit_tiny.*")) {
            warmup = 5;
        }
        double warm = config.schedule().learningRate(full, (long) warmup * IMAGENET_STEPS, length);
        assertTrue(warm > .92 * full && warm <= full, () -> name + ": " + warm);
        double before =
                config.schedule().learningRate(full, (warmup - 1L) * IMAGENET_STEPS, length);
        assertEquals((warmup - 1.) / warmup * full, before, .01 * full);
        double end = config.schedule().learningRate(full, length.iterations() - 1, length);
        assertEquals(isTuned ? 4e-7 : 1e-5, end, 1e-3 * full);
    }

    @ParameterizedTest
    @CsvSource({
        "classification/swin_tiny.*, 0.2",
        "classification/swin_small.*, 0.3",
        "classification/(swin|elsa_swin)_base.*, 0.5",
        "classification/focal_(tiny|small).*, 0.2",
        "classification/focal_base.*, 0.3",
        "classification/elsa_swin_tiny.*, 0.1",
        "classification/elsa_swin_small.*, 0.3",
        "classification/pvt_(tiny|small).*, 0.1",
        "classification/pvt_(medium|large).*, 0.3",
        "classification/dynamic_conv_swin_.*_tiny_.*, 0.2",
        "classification/dynamic_conv_swin_.*_base_.*, 0.5",
        "classification/deit_.*, 0.1"
    })
    void dropsAsManyPathsAsPublishedOnImagenet(String names, double rate) throws IOException {
        dropsAsManyPathsAsPublished(names, rate);
    }

    @ParameterizedTest
    @MethodSource("namesOnImagenet")
    void augmentsAsPublishedOnImagenet(String name) {
        RunConfig config = recipe(name);
        List<String> augments =
                config.data().batchAugments().stream().map(BatchAugment::type).toList();
        boolean isResNet = name.contains("/resnet");
        assertEquals(
                isResNet
                        ? List.of()
                        : name.contains("/focal")
                                ? List.of("mixup_cutmix")
                                : List.of("pixel_erasing", "mixup_cutmix"),
                augments);
        assertEquals(
                name.matches(".*/(pvt|linglo|deit)_.*"),
                config.data().requireTrain().repeatsImages());
        assertEquals(
                name.matches(".*/(deit_.*|elsa_swin_base_imagenet)"), config.ema().isPresent());
        boolean isClipped =
                !name.matches(".*/(resnet.*|linglo_.*|pvt_(tiny|small)_.*|deit_tiny.*)");
        assertEquals(isClipped, config.maxGradientNorm().isPresent());
    }

    /** Returns the images per step on COCO. */
    private static int batch(String name) {
        return name.startsWith("mask_rcnn/pvt_large") ? 8 : BATCH;
    }

    private static double publishedRate(String name) {
        if (name.startsWith("upernet")) {
            return name.contains("resnet") ? .01 : 6e-5;
        }
        if (name.startsWith("semantic_fpn")) {
            return name.contains("resnet") ? .02 : name.contains("pvt") ? 2e-4 : 1e-4;
        }
        if (name.startsWith("dyhead") && !name.contains("resnet")) {
            return 5e-5;
        }
        if (name.contains("/resne")) {
            return name.matches("(retinanet|atss|dyhead)/.*") ? .01 : .02;
        }
        if (name.startsWith("mask_rcnn/pvt_large")) {
            return 2e-4 / 1.4;
        }
        return name.startsWith("mask_rcnn/pvt") ? 2e-4 : 1e-4;
    }

    /** Stochastic depth as the Focal paper, the Swin configs and the ELSA configs state it. */
    @ParameterizedTest
    @CsvSource({
        "retinanet/(swin|focal)_tiny.*, 0.2",
        "retinanet/(swin|focal)_small.*, 0.3",
        "retinanet/(swin|focal)_base.*, 0.5",
        "mask_rcnn/focal_tiny.*, 0.2",
        "mask_rcnn/(focal_small.*|swin_small_fpn_1x_coco), 0.3",
        "mask_rcnn/(focal|swin)_base.*, 0.5",
        "mask_rcnn/swin_(tiny|small)_fpn_3x_coco, 0.2",
        "mask_rcnn/(elsa_)?swin_tiny_fpn_1x_coco, 0.1",
        "(cascade_)?mask_rcnn/elsa_swin_(small|base)_fpn_1x_coco, 0.2",
        "(cascade_)?mask_rcnn/elsa_swin_(small|base)_fpn_3x_coco, 0.75",
        "(cascade_)?mask_rcnn/elsa_swin_tiny_fpn_3x_coco, 0.2",
        "cascade_mask_rcnn/(elsa_)?swin_tiny_fpn_1x_coco, 0",
        "cascade_mask_rcnn/swin_(tiny|small)_fpn_3x_coco, 0.2",
        "cascade_mask_rcnn/swin_base.*, 0.3",
        "upernet/(swin|elsa_swin|focal)_.*, 0.3",
        "dyhead/swin_large.*, 0.2"
    })
    void dropsAsManyPathsAsPublished(String names, double rate) throws IOException {
        List<String> matching = names().stream().filter(name -> name.matches(names)).toList();
        assertFalse(matching.isEmpty(), names);
        for (String name : matching) {
            ConfigNode backbone =
                    Configs.unbind(recipe(name).model()).get("backbone").orElseThrow();
            ConfigNode.Scalar found =
                    (ConfigNode.Scalar)
                            ((ConfigNode.Mapping) backbone).get("drop_path_rate").orElseThrow();
            assertEquals(rate, ((Number) found.value()).doubleValue(), name);
        }
    }

    /** At 1x the Focal paper resizes to 800, at 3x to 480 to 800; Swin and ELSA at many scales. */
    @ParameterizedTest
    @MethodSource("resized")
    void resizesAsPublished(String name) {
        Resize resize =
                recipe(name).data().trainTransformsAtSize().stream()
                        .filter(Resize.class::isInstance)
                        .map(Resize.class::cast)
                        .findFirst()
                        .orElseThrow();
        boolean many = name.endsWith("_3x_coco");
        assertEquals(many ? Resize.Mode.RANGE : Resize.Mode.VALUE, resize.mode());
        assertEquals(
                many
                        ? List.of(List.of(1333, 480), List.of(1333, 800))
                        : List.of(List.of(1333, 800)),
                resize.scales());
    }

    static List<String> resized() throws IOException {
        return namesOnCoco().stream()
                .filter(name -> name.matches("(retinanet|mask_rcnn)/.*"))
                .filter(
                        name ->
                                ZOO.recipe(name)
                                        .publication()
                                        .orElseThrow()
                                        .title()
                                        .startsWith("Focal"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("multiScale")
    void definesTheTtaOfItsMultiScaleResult(String name) {
        RunConfig config = recipe(name);
        NamedAugmentations tta = config.data().tta();
        TestTimeAugmentation multiScale = tta.tta().get("multi_scale");
        assertTrue(multiScale.flip(), name);
        List<List<Transform>> transforms =
                multiScale.pipelines(config.data().valTransformsAtSize());
        if (!name.startsWith("upernet/")) {
            assertEquals(2 * multiScale.scales().size(), transforms.size());
            assertEquals(Optional.empty(), tta.valTta());
            return;
        }
        int edge = name.contains("_large_") ? 640 : 512;
        List<List<Integer>> scales =
                Stream.of(.5, .75, 1., 1.25, 1.5, 1.75)
                        .map(ratio -> List.of((int) (4 * edge * ratio), (int) (edge * ratio)))
                        .toList();
        assertEquals(
                scales,
                IntStream.range(0, 6)
                        .mapToObj(i -> ((Resize) transforms.get(2 * i).get(0)).scales().get(0))
                        .toList());
        assertEquals(12, transforms.size());
        Optional<String> byDefault =
                ZOO.recipe(name).published().containsKey("miou")
                        ? Optional.empty()
                        : Optional.of("multi_scale_elsa");
        assertEquals(byDefault, tta.valTta());
    }

    static List<String> multiScale() throws IOException {
        return published().stream()
                .filter(
                        name ->
                                ZOO.recipe(name).published().keySet().stream()
                                        .anyMatch(result -> result.endsWith("_scales")))
                .toList();
    }

    @Test
    void evaluatesElsaAsItsPaper() {
        TestTimeAugmentation tta =
                recipe("upernet/elsa_swin_base_160k_ade20k")
                        .data()
                        .tta()
                        .named("multi_scale_elsa")
                        .orElseThrow();
        assertEquals(List.of(.75, 1., 1.25, 1.5, 1.75), tta.ratios());
        assertFalse(tta.flip());
    }

    /** Returns one recipe of each model, without those that differ in width, depth or schedule. */
    static Collection<String> models() throws IOException {
        Map<ModelConfig, String> models = new LinkedHashMap<>();
        names().forEach(name -> models.putIfAbsent(light(name).model(), name));
        return models.values();
    }

    @ParameterizedTest
    @MethodSource("models")
    void takesAStep(String name) {
        RunConfig config = light(name);
        Model<?> model = model(name, config);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            model.initialize(manager, config.seed());
            model.train(true);
            NoiseScene scene = new NoiseScene(manager, images(model), TINY);
            try (Optimizer optimizer = config.optimizer().build(model)) {
                Gradients gradients =
                        scene.gradients(
                                model, optimizer, loss -> assertTrue(Float.isFinite(loss), name));
                Set<String> unlearned =
                        Sets.difference(
                                optimizer.parameters().keySet(), gradients.arrays().keySet());
                assertTrue(
                        unlearned.stream().allMatch(p -> p.startsWith(UNUSED_BY_RETINANET)),
                        unlearned::toString);
                String any = gradients.arrays().keySet().iterator().next();
                NDArray weight = optimizer.parameters().get(any).getArray();
                NDArray before = weight.duplicate();
                optimizer.step(gradients, 1, config.learningRate(1));
                assertFalse(before.contentEquals(weight), any);
                assertTrue(Float.isFinite(weight.sum().getFloat()), any);
            }
        }
    }

    /** Returns the recipe with a narrow and shallow model, whose steps are short. */
    private static RunConfig light(String name) {
        ConfigNode.Mapping model = Configs.unbind(recipe(name).model());
        List<String> overrides = new ArrayList<>();
        for (String setting : model.scalars().keySet()) {
            NARROW.forEach(
                    (pattern, value) -> {
                        if (setting.matches(pattern)) {
                            overrides.add("model." + setting + "=" + value);
                        }
                    });
        }
        ConfigNode.Mapping backbone = (ConfigNode.Mapping) model.get("backbone").orElseThrow();
        EveryCombinationTest.SMALL.forEach(
                (key, value) -> {
                    // Blocks of ResNeXt need more channels; blocks of depth 18 are others.
                    if (backbone.get(key).isPresent() && !name.contains("/resne")) {
                        overrides.add("model.backbone." + key + "=" + value);
                    }
                });
        if (name.contains("depthwise_tiny")) {
            // A head per channel.
            overrides.add("model.backbone.num_heads=[24, 48, 96, 192]");
        }
        return recipe(name, overrides.toArray(String[]::new));
    }

    /** Normalization over a batch wants two values, and the pooled maps of UperNet have one. */
    private static int images(Model<?> model) {
        return model.<Integer>match(detector -> 1, segmenter -> 2, classifier -> 2);
    }
}

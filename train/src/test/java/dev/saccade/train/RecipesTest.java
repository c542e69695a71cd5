package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Sets;
import com.google.common.io.Resources;

import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Detector;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.ParameterGroup;
import dev.saccade.train.schedules.RunLength;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every file in {@code configs/}, held against what is published of its recipe. */
class RecipesTest {

    /** The norm of the finest level, which RetinaNet's neck leaves out. */
    private static final String UNUSED_BY_RETINANET = "backbone.norm0.";

    private static final Path CONFIGS = Path.of("..", "configs");
    private static final int COCO_CLASSES = 80;

    /** The 117,266 photographs of COCO that are trained with, in groups of 16. */
    private static final int COCO_STEPS = 7330;

    private static final int COCO_BATCH = 16;
    private static final Size TINY = new Size(64, 64);

    /** Of the parameters of Swin, ELSA and Focal these do not decay. */
    private static final Pattern EXEMPT =
            Pattern.compile("absolute_pos_embed|relative_position_bias_table|norm");

    private static RunConfig recipe(String name, String... overrides) {
        Path file = CONFIGS.resolve(name + ".yaml");
        return ConfigBinder.bind(ConfigFile.load(file, List.of(overrides)), RunConfig.class);
    }

    private static Detector detector(RunConfig config) {
        return new Detector(config.model(), Collections.nCopies(COCO_CLASSES, "thing"));
    }

    static Set<String> names() throws IOException {
        try (Stream<Path> files = Files.walk(CONFIGS)) {
            return files.map(file -> CONFIGS.relativize(file).toString())
                    .filter(name -> name.endsWith(".yaml") && !name.startsWith("_base_"))
                    .map(name -> name.substring(0, name.length() - ".yaml".length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    static List<String> namesOnCoco() throws IOException {
        return names().stream().filter(name -> name.endsWith("_coco")).toList();
    }

    /**
     * Checks the size of a model.
     *
     * @param millions what is published; frozen parameters do not count
     * @param within half of the last digit that is published; more for Focal and LinGlo, whose
     *     tables contradict each other: RetinaNet leaves another backbone than Mask R-CNN does, and
     *     than classification
     * @param total the exact number of all parameters, where it is known
     */
    @ParameterizedTest
    @CsvFileSource(resources = "recipes.csv", useHeadersInDisplayName = true)
    void hasThePublishedSize(String name, double millions, double within, Long total) {
        Detector detector = detector(recipe(name));
        if (total != null) {
            assertEquals(total, detector.parameterCount());
        }
        long learned =
                Gradients.learned(detector).values().stream()
                        .mapToLong(parameter -> parameter.getShape().size())
                        .sum();
        assertEquals(millions, learned / 1e6, within);
    }

    @Test
    void noSizeIsLeftUnchecked() throws IOException {
        List<String> lines =
                Resources.readLines(Resources.getResource(RecipesTest.class, "recipes.csv"), UTF_8);
        assertEquals(
                namesOnCoco(),
                lines.stream()
                        .skip(1)
                        .map(line -> line.substring(0, line.indexOf(',')))
                        .sorted()
                        .toList());
    }

    @ParameterizedTest
    @MethodSource("namesOnCoco")
    void decaysWhatThePaperDecays(String name) {
        RunConfig config = recipe(name);
        Detector detector = detector(config);
        boolean transformer = Set.of("swin", "elsa_swin", "focal").contains(type(config));
        double decay = transformer ? .05 : 1e-4;
        int members = 0;
        for (ParameterGroup group : config.optimizer().groups(detector)) {
            assertEquals(1, group.learningRateFactor());
            for (String parameter : group.parameters().keySet()) {
                boolean exempt = transformer && EXEMPT.matcher(parameter).find();
                assertEquals(exempt ? 0 : decay, group.weightDecay(), parameter);
                members++;
            }
        }
        assertEquals(Gradients.learned(detector).size(), members);
    }

    private static String type(RunConfig config) {
        return config.model().backbone().type();
    }

    @ParameterizedTest
    @MethodSource("namesOnCoco")
    void followsThePublishedSchedule(String name) {
        RunConfig config = recipe(name, "data.batch_size=" + COCO_BATCH);
        boolean threefold = name.contains("_3x_");
        RunLength length = config.length(COCO_STEPS);
        assertEquals((threefold ? 36L : 12L) * COCO_STEPS, length.iterations());
        double full = publishedRate(name);
        assertEquals(full, config.learningRate(), 1e-12);
        assertEquals(full / 8, recipe(name).learningRate(), 1e-12);
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
                        epoch(threefold ? 27 : 8) - 1,
                        1.0,
                        epoch(threefold ? 27 : 8),
                        .1,
                        epoch(threefold ? 33 : 11) - 1,
                        .1,
                        epoch(threefold ? 33 : 11),
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

    private static double publishedRate(String name) {
        if (name.contains("resnet")) {
            return name.startsWith("retinanet") ? .01 : .02;
        }
        return name.startsWith("mask_rcnn/pvt") ? 2e-4 : 1e-4;
    }

    /** Regions of interest are few here, which makes the step of a cascade shorter. */
    @ParameterizedTest
    @MethodSource("names")
    void takesAStep(String name) {
        RunConfig config =
                name.startsWith("retinanet")
                        ? recipe(name)
                        : recipe(name, "model.head.rpn_head.train_proposals.max_per_img=16");
        Detector detector = detector(config);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            detector.initialize(manager, config.seed());
            detector.train(true);
            ImageBatch batch =
                    new ImageBatch(
                            WeightInit.normal(1)
                                    .create(
                                            manager,
                                            new Shape(1, 3, TINY.height(), TINY.width()),
                                            new SplittableRandom(0)),
                            List.of(ImageInfo.of(TINY)));
            Instances target =
                    Instances.groundTruth(Boxes.of(8, 8, 48, 40), 1)
                            .withMasks(List.of(Rle.fromBox(TINY, 8, 8, 40, 32)));
            try (Optimizer optimizer = config.optimizer().build(detector)) {
                Supplier<NDArray> loss =
                        () -> {
                            NDArray total = detector.losses(batch, List.of(target)).total();
                            assertTrue(Float.isFinite(total.getFloat()), name);
                            return total;
                        };
                Gradients gradients =
                        SampleDraws.during(
                                0,
                                0,
                                new long[] {0},
                                () -> Gradients.of(loss, optimizer.parameters()));
                Set<String> unlearned =
                        Sets.difference(
                                optimizer.parameters().keySet(), gradients.arrays().keySet());
                assertTrue(
                        unlearned.stream().allMatch(p -> p.startsWith(UNUSED_BY_RETINANET)),
                        unlearned::toString);
                String any = gradients.arrays().keySet().iterator().next();
                NDArray weight = optimizer.parameters().get(any).getArray();
                NDArray before = weight.duplicate();
                optimizer.step(gradients, config.learningRate());
                assertFalse(before.contentEquals(weight), any);
                assertTrue(Float.isFinite(weight.sum().getFloat()), any);
            }
        }
    }
}

package dev.saccade.configgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.backbones.ResNet;
import dev.saccade.core.Text;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Generated configs can be trained, for all kinds of data and machines. */
class ConfigGeneratorTest {

    private static final Machine LAPTOP = new Machine(false, 2, 8L << 30, false);

    @TempDir Path folder;

    private RunConfig written(DatasetContents contents, Machine machine, Dataset.Config part)
            throws IOException {
        LabeledFolder found = new LabeledFolder(Path.of("da ta: #1"), part, Optional.of(part));
        Path file = folder.resolve("new.yaml");
        Files.writeString(file, ConfigGenerator.generate(found, contents, machine));
        return RunConfig.load(file);
    }

    private static Dataset.Config part(TargetKind targets) {
        return targets == TargetKind.LABEL_MAPS
                ? new Ade20kDataset.Config(
                        "images",
                        "masks",
                        List.of("a: b", "no"),
                        Optional.empty(),
                        true,
                        255,
                        ".jpg",
                        "_m.png")
                : new CocoDataset.Config("train, 1.json", "ima ges", List.of());
    }

    @Test
    void generatesFittingConfigs() throws IOException {
        Random random = new Random(7);
        List<TargetKind> kinds = List.of(TargetKind.BOXES, TargetKind.MASKS, TargetKind.LABEL_MAPS);
        for (int i = 0; i < 300; i++) {
            TargetKind targets = kinds.get(random.nextInt(kinds.size()));
            int shortEdge = 1 + (int) Math.pow(10, 4 * random.nextDouble());
            int longEdge = shortEdge + random.nextInt(3 * shortEdge);
            Map<String, Integer> perClass = new LinkedHashMap<>();
            for (int c = random.nextInt(12); c > 0; c--) {
                perClass.put(Text.format("class\n%d: %%s\u202e #", c), random.nextInt(3));
            }
            DatasetContents contents =
                    new DatasetContents(
                            targets,
                            random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(1_000_000),
                            longEdge,
                            shortEdge,
                            perClass,
                            random.nextInt(3) == 0 ? 0 : random.nextDouble() * longEdge,
                            random.nextInt(300));
            Machine machine =
                    new Machine(
                            random.nextBoolean(),
                            1 + random.nextInt(200),
                            random.nextLong(1L << 38),
                            random.nextBoolean());

            RunConfig config = written(contents, machine, part(targets));

            List<Integer> size = config.data().size().imageSize().orElseThrow();
            assertEquals(0, size.get(0) % 32 + size.get(1) % 32, contents::toString);
            assertTrue(size.get(0) >= size.get(1), contents::toString);
            assertTrue(size.get(0) <= Math.max(32, 1.6 * longEdge + 32), contents + ": " + size);
            assertTrue((long) size.get(0) * size.get(1) < 2_000_000L, contents + ": " + size);
            assertTrue(
                    config.data().batchSize() <= Math.max(1, contents.images()),
                    contents::toString);
            assertEquals(targets, config.model().head().targets());
            assertEquals(Path.of("da ta: #1"), config.data().root());
            assertEquals(Optional.of(part(targets)), config.data().train());
        }
    }

    @AfterEach
    void forgetTheCache() {
        System.clearProperty("SACCADE_CACHE");
    }

    private static void download(Path cache, String name) throws IOException {
        Path weights = Files.createDirectories(cache.resolve("weights"));
        Files.createFile(weights.resolve(PretrainedWeights.named(name).file()));
    }

    @ParameterizedTest
    @CsvSource({"BOXES, 1", "MASKS, 1", "LABEL_MAPS, -1"})
    void usesDownloadedBackbone(TargetKind targets, int frozenStages) throws IOException {
        System.setProperty("SACCADE_CACHE", folder.toString());
        DatasetContents contents = new DatasetContents(targets, 100, 640, 480, Map.of(), 40, 9);
        assertEquals(
                Optional.empty(),
                written(contents, LAPTOP, part(targets)).initFrom(),
                "fetched none");
        download(folder, "resnet50");
        download(folder, "resnet18");

        RunConfig config = written(contents, LAPTOP, part(targets));

        assertEquals(Optional.of("resnet18"), config.initFrom());
        assertEquals(1e-4, config.optimizer().learningRate());
        assertTrue(PretrainedWeights.named("resnet18").fits(config.model().backbone()), "fits it");
        assertEquals(frozenStages, ((ResNet.Config) config.model().backbone()).frozenStages());
    }

    /** The generated model is the model of the weights' recipe, except for frozen layers. */
    @ParameterizedTest
    @CsvSource({
        "BOXES, false, retinanet_resnet18_fpn_1x_coco",
        "BOXES, true, fasterrcnn_resnet50_fpn_v2",
        "MASKS, false, maskrcnn_resnet50_fpn_v2",
        "MASKS, true, maskrcnn_resnet50_fpn_v2"
    })
    void usesDownloadedDetector(TargetKind targets, boolean gpu, String name) throws IOException {
        System.setProperty("SACCADE_CACHE", folder.toString());
        DatasetContents contents = new DatasetContents(targets, 99, 640, 480, Map.of(), 40, 101);
        Machine machine = new Machine(gpu, 8, 8L << 30, false);
        LabeledFolder found =
                new LabeledFolder(Path.of("data"), part(targets), Optional.of(part(targets)));
        String fetch = "./saccade weights fetch " + name;
        assertTrue(ConfigGenerator.generate(found, contents, machine).contains(fetch));
        download(folder, name);
        download(folder, "resnet18");
        assertFalse(ConfigGenerator.generate(found, contents, machine).contains("fetch"));

        RunConfig config = written(contents, machine, part(targets));

        assertEquals(Optional.of(name), config.initFrom());
        String recipe = PretrainedWeights.named(name).recipe().orElseThrow();
        ResNet.Config backbone = (ResNet.Config) config.model().backbone();
        assertEquals(2, backbone.frozenStages());
        assertTrue(backbone.normEval());
        assertEquals(parameters(Zoo.packaged().recipe(recipe).model()), parameters(config.model()));
    }

    /** Returns the shapes of all parameters of a model for three classes. */
    private static Map<String, Shape> parameters(ModelConfig model) {
        return ImmutableMap.copyOf(
                Maps.transformValues(
                        model.build(List.of("a", "b", "c")).namedParameters(),
                        Parameter::getShape));
    }

    @Test
    void countsIterationsForFewImages() throws IOException {
        DatasetContents contents =
                new DatasetContents(TargetKind.BOXES, 25, 640, 480, Map.of(), 39, 9);
        RunConfig config = written(contents, LAPTOP, part(TargetKind.BOXES));
        assertEquals(Optional.of(875L), config.iterations());
        assertEquals(Optional.of(145L), config.evaluation().every().iterations());
    }

    /** Bundled recipes for known data sets, whose results are documented. */
    @ParameterizedTest
    @CsvSource({
        "BOXES, 292, 640, 480, 39, 384x288, 4, 12",
        "MASKS, 14, 800, 600, 74, 448x352, 2, 60",
        "LABEL_MAPS, 120, 480, 360, 0, 480x384, 8, 47"
    })
    void matchesRecipesForKnownData(
            TargetKind targets,
            int photos,
            int longEdge,
            int shortEdge,
            double small,
            String size,
            int batch,
            int epochs)
            throws IOException {
        DatasetContents contents =
                new DatasetContents(targets, photos, longEdge, shortEdge, Map.of(), small, 9);
        RunConfig config = written(contents, LAPTOP, part(targets));
        List<Integer> edges = config.data().size().imageSize().orElseThrow();
        assertEquals(size, edges.get(0) + "x" + edges.get(1));
        assertEquals(batch, config.data().batchSize());
        assertEquals(epochs, config.epochs());
        assertEquals(1e-3, config.optimizer().learningRate());
    }

    @Test
    void smallObjectsGetMorePixels() throws IOException {
        double last = 0;
        for (double small : new double[] {400, 60, 30, 15}) {
            DatasetContents contents =
                    new DatasetContents(TargetKind.BOXES, 900, 800, 600, Map.of(), small, 9);
            List<Integer> edges =
                    written(contents, LAPTOP, part(TargetKind.BOXES))
                            .data()
                            .size()
                            .imageSize()
                            .get();
            double pixels = edges.get(0) * edges.get(1);
            assertTrue(pixels >= last && pixels <= 660 * 500, small + ": " + edges);
            last = pixels;
        }
        assertTrue(last > 600 * 400, "pixels for the smallest: " + last);
    }

    @Test
    void denseImagesRaiseTheLimitsOnDetections() throws IOException {
        for (TargetKind targets : List.of(TargetKind.BOXES, TargetKind.MASKS)) {
            for (int most : new int[] {100, 240, 30_000}) {
                DatasetContents contents =
                        new DatasetContents(targets, 100, 640, 480, Map.of(), 40, most);
                RunConfig config = written(contents, LAPTOP, part(targets));
                Map<String, Integer> limits = config.model().head().objectLimits();
                int evaluated = config.evaluators().get(0).maxDetections().orElseThrow();
                if (most == 100) {
                    assertEquals(100, limits.get(HeadConfig.MAX_PER_IMG));
                    assertEquals(100, evaluated);
                } else {
                    assertEquals(evaluated, limits.get(HeadConfig.MAX_PER_IMG));
                    limits.forEach((key, limit) -> assertTrue(limit > most, key + " " + limit));
                }
            }
        }
    }
}

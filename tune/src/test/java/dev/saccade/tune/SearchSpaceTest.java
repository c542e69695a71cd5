package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Transform;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

class SearchSpaceTest {

    @TempDir Path folder;

    private RunConfig base(String... overrides) throws IOException {
        return RunConfig.load(TinyData.write(folder), overrides);
    }

    @Test
    void offersDimensionsThatFitTheConfig() throws IOException {
        List<String> scratch = SearchSpace.of(base(), List.of(), List.of("backbone")).names();
        assertEquals(List.of("head", "learning_rate", "augmentation", "ema"), scratch);
        List<String> pretrained =
                SearchSpace.of(
                                base("init_from=resnet18", "data.image_size=[320, 256]"),
                                List.of(),
                                List.of("backbone"))
                        .names();
        assertEquals(
                List.of(
                        "head",
                        "frozen_stages",
                        "learning_rate",
                        "layer_decay",
                        "image_size",
                        "augmentation",
                        "ema"),
                pretrained);
    }

    @Test
    void trialsOfClassifiersKeepTheirCrops() {
        RunConfig base =
                RunConfig.parse(
                        """
                        model:
                          backbone: {type: resnet, depth: 18, out_indices: [3]}
                          head: {type: linear_cls}
                        data:
                          train: {type: image_folder, folder: train}
                          image_size: [96, 96]
                          train_transforms:
                            - {type: random_resized_crop, scale: [0.35, 1]}
                            - {type: random_flip}
                            - {type: normalize}
                          val_transforms:
                            - {type: resize_edge}
                            - {type: center_crop}
                            - {type: normalize}
                        """);
        SearchSpace space = SearchSpace.of(base, List.of(), List.of("backbone"));
        assertEquals(List.of("learning_rate", "image_size", "augmentation", "ema"), space.names());
        Set<String> crops = new TreeSet<>();
        for (int trial = 1; trial < 60; trial++) {
            Choice augmentation = space.sample(0, trial).get("augmentation");
            if (augmentation != null) {
                String first =
                        base.with(augmentation.overrides().toArray(String[]::new))
                                .data()
                                .trainTransforms()
                                .get(0)
                                .toString();
                crops.add(first.replaceAll(".*(scale=\\[[^]]*]).*", "$1"));
            }
        }
        assertEquals(Set.of("scale=[0.08, 1.0]", "scale=[0.35, 1.0]", "scale=[0.5, 1.0]"), crops);
    }

    @Test
    void samplesDependOnSeedAndNumberOnly() throws IOException {
        SearchSpace space = SearchSpace.of(base(), List.of(), List.of());
        assertEquals(Map.of(), space.sample(0, 0));
        Set<String> seen = new HashSet<>();
        RunConfig base = base();
        for (int trial = 1; trial < 40; trial++) {
            Map<String, Choice> values = space.sample(0, trial);
            assertEquals(values, SearchSpace.of(base(), List.of(), List.of()).sample(0, trial));
            assertFalse(values.isEmpty());
            seen.addAll(values.keySet());
            RunConfig changed =
                    base.with(
                            values.values().stream()
                                    .flatMap(choice -> choice.overrides().stream())
                                    .toArray(String[]::new));
            double rate = changed.optimizer().learningRate();
            assertTrue(rate >= 0.0005 && rate <= 0.008, "learning rate " + rate);
        }
        assertTrue(seen.containsAll(List.of("head", "learning_rate", "augmentation", "ema")));
        assertFalse(space.sample(0, 1).equals(space.sample(1, 1)));
    }

    @Test
    void fixedScaleDropsRandomScalesAndCrops() throws IOException {
        RunConfig base =
                base(
                        "data.image_size=[64, 48]",
                        "data.train_transforms=[{type: resize, ratio_range: [0.5, 2.0]},"
                                + " {type: random_crop, mode: image_size}, {type: random_flip},"
                                + " {type: normalize}, {type: pad}]");
        ListDimension augmentation =
                (ListDimension)
                        new DefaultDimensions(base)
                                .list().stream()
                                        .filter(each -> each.name().equals("augmentation"))
                                        .findFirst()
                                        .orElseThrow();
        Map<String, RunConfig> levels = new HashMap<>();
        for (Choice choice : augmentation.choices()) {
            levels.put(choice.label(), base.with(choice.overrides().toArray(String[]::new)));
        }
        assertEquals(
                Set.of(
                        "random scale, flip both ways",
                        "random scale, color",
                        "fixed scale",
                        "mosaic"),
                levels.keySet());
        assertEquals(
                List.of("resize", "random_flip", "normalize", "pad"),
                types(levels.get("fixed scale")));
        assertEquals(
                List.of("resize", "random_crop", "random_flip", "random_flip", "normalize", "pad"),
                types(levels.get("random scale, flip both ways")));
        RunConfig fixed = levels.get("fixed scale");
        assertEquals(
                fixed.data().trainTransforms(),
                fixed.with("data.train_transforms.0.ratio_range=[]").data().trainTransforms());
    }

    private static List<String> types(RunConfig config) {
        return config.data().trainTransforms().stream().map(Transform::type).toList();
    }

    @Test
    void acceptsOwnDimensions() throws IOException {
        SearchSpace space =
                SearchSpace.of(
                        base(),
                        List.of(
                                "model.neck.out_channels=[16, 24]",
                                "optimizer.learning_rate=1e-4..1e-2",
                                "data.train_transforms=[[{type: normalize}, {type: pad}]]"),
                        List.of("all"));
        assertEquals(
                List.of(
                        "model.neck.out_channels",
                        "optimizer.learning_rate",
                        "data.train_transforms"),
                space.names());
        assertEquals(
                List.of("head", "ema", "optimizer.learning_rate"),
                SearchSpace.of(
                                base(),
                                List.of("optimizer.learning_rate=1e-4..1e-2"),
                                List.of("augmentation", "backbone"))
                        .names());
    }

    @Test
    void samplesWholeNumbersForIntegers() throws IOException {
        SearchSpace space =
                SearchSpace.of(base(), List.of("model.neck.out_channels=16..64"), List.of("all"));
        Set<String> values = new TreeSet<>();
        for (int trial = 1; trial < 40; trial++) {
            values.add(space.sample(0, trial).get("model.neck.out_channels").label());
        }
        assertTrue(values.size() > 10, values.toString());
        assertTrue(values.stream().allMatch(each -> each.matches("\\d\\d")), values.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ema | search: got ema, expected KEY=[VALUE, VALUE, ...] or KEY=LOW..HIGH",
                "seed=3 | search: got seed=3, expected",
                "iterations=[3] | search iterations=[3]: the search sets iterations for all trials",
                "schedule.type=[poly] | search schedule.type=[poly]: the search sets schedule.type",
                "seed=[] | search: got seed=[], expected",
                "optimizer.weight_decay=3..1 | search: got optimizer.weight_decay=3..1, expected",
                "optimizer.weight_decay=a..b | search: got optimizer.weight_decay=a..b, expected",
                "optimizer.decay=[1] | search optimizer.decay=[1]: ",
                "model.neck.out_channels=[16, many] | search model.neck.out_channels=[16, many]: ",
            })
    void rejectsWrongDimensions(String search, String message) throws IOException {
        RunConfig base = base();
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> SearchSpace.of(base, List.of(search), List.of()));
        assertTrue(error.getMessage().startsWith(message), error.getMessage());
    }

    @Test
    void rejectsUnknownNamesAndEmptySpaces() throws IOException {
        RunConfig base = base();
        SaccadeException unknown =
                assertThrows(
                        SaccadeException.class,
                        () -> SearchSpace.of(base, List.of(), List.of("heads")));
        assertTrue(
                unknown.getMessage().startsWith("fix: got heads, expected all or one of backbone"),
                unknown.getMessage());
        assertThrows(SaccadeException.class, () -> SearchSpace.of(base, List.of(), List.of("all")));
    }

    @Test
    void rejectsValuesEqualToTheConfig() throws IOException {
        RunConfig base = base();
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> SearchSpace.of(base, List.of("accumulation=[1]"), List.of("all")));
        assertTrue(
                error.getMessage().startsWith("the search has no values that differ"),
                error.getMessage());
    }
}

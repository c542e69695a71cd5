package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Variant;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class ConfigsTest {

    private record Required(int classes, Optional<String> note) {}

    @Test
    void emptyConfigHasAllDefaults() {
        Recipe recipe = bind("{}");
        assertEquals(Configs.of(Recipe.class), recipe);
        assertEquals(12, recipe.epochs());
        assertEquals(0.1f, recipe.momentum());
        assertEquals(Optional.empty(), recipe.warmUp());
        assertEquals(new Recipe.Section(18, List.of(3)), recipe.section());
        assertEquals(new Recipe.Sgd(0.5, 0.8), recipe.optimizer());
    }

    @Test
    void everyKindOfValueIsBound() {
        Recipe recipe =
                bind(
                        """
                        epochs: 36
                        seed: 9007199254740993
                        momentum: 0.25
                        learning_rate: 1e-4
                        amp: true
                        name: "3x"
                        root: some/where
                        policy: warm_up_step
                        warm_up: 500
                        extra: {depth: 101}
                        scales: [1, 0.5]
                        multipliers: {backbone: 0.1}
                        section: {out_indices: [2]}
                        optimizer: {type: adamw, lr: 2e-4}
                        stages: [{type: sgd}, {type: adamw}]
                        """);

        assertEquals(36, recipe.epochs());
        assertEquals(9007199254740993L, recipe.seed());
        assertEquals(0.25f, recipe.momentum());
        assertEquals(1e-4, recipe.learningRate());
        assertTrue(recipe.amp());
        assertEquals("3x", recipe.name());
        assertEquals(Path.of("some/where"), recipe.root());
        assertEquals(Recipe.Policy.WARM_UP_STEP, recipe.policy());
        assertEquals(Optional.of(500), recipe.warmUp());
        assertEquals(Optional.of(new Recipe.Section(101, List.of(0, 1, 2, 3))), recipe.extra());
        assertEquals(List.of(1.0, 0.5), recipe.scales());
        assertEquals(Map.of("backbone", 0.1), recipe.multipliers());
        assertEquals(Configs.of(Recipe.AdamW.class, "lr=2e-4"), recipe.optimizer());
        assertEquals(
                List.of(Configs.of(Recipe.Sgd.class), Configs.of(Recipe.AdamW.class)),
                recipe.stages());
    }

    @Test
    void aSectionKeepsTheDefaultsOfTheRecordAroundIt() {
        assertEquals(
                new Recipe.Section(18, List.of(1)), bind("section: {out_indices: [1]}").section());
        assertEquals(new Recipe.Sgd(0.1, 0.8), bind("optimizer: {lr: 0.1}").optimizer());
        assertEquals(new Recipe.Sgd(0.5, 0.8), bind("optimizer: {type: sgd}").optimizer());
    }

    @Test
    void nullIsAllowedForOptionalsOnly() {
        assertEquals(Optional.empty(), bind("warm_up: null").warmUp());
        String byDefault = "; remove the key to use the default";
        assertProblem("epochs:", "1: epochs: got null, expected an integer" + byDefault);
        assertProblem("section: null", "section: got null, expected a map" + byDefault);
        assertProblem("scales: null", "scales: got null, expected a list" + byDefault);
        assertProblem("scales: [null]", "scales[0]: got null, expected a number");
    }

    @Test
    void keysWithoutDefaultAreRequired() {
        ConfigNode node = YamlReader.read("{}", new Origin("recipe.yaml", 1, 1));

        String message =
                assertThrows(SaccadeException.class, () -> Configs.bind(node, Required.class))
                        .getMessage();

        assertEquals("config: recipe.yaml:1: classes: missing; this key is required", message);
    }

    @Test
    void numbersAreExact() {
        assertProblem("epochs: 1.5", "epochs: got the number 1.5, expected an integer");
        assertProblem("epochs: 3000000000", "expected a 32-bit integer");
        assertProblem("seed: 9223372036854775808", "expected a 64-bit integer");
        assertProblem("epochs: 1_000", "got the string \"1_000\", expected an integer");
        assertProblem("momentum: 1e39", "expected a number below 3.4e38");
        assertProblem("learning_rate: .nan", "got the number NaN");
        assertProblem("learning_rate: fast", "got the string \"fast\", expected a number");
        assertEquals(Double.POSITIVE_INFINITY, bind("learning_rate: .inf").learningRate());
        assertEquals(31, bind("epochs: 0x1F").epochs());
    }

    @Test
    void stringsAndBooleansAreNotGuessed() {
        assertProblem("name: 50", "expected a string; put it in quotes: \"50\"");
        assertProblem("amp: yes", "got the string \"yes\", expected true or false");
        assertProblem(
                "amp: \"\\e[31m\\n\"", "got the string \"\\u001b[31m\\n\", expected true or false");
        assertProblem("root: 3", "expected a file name");
        assertProblem("policy: warm_up_stop", "did you mean warm_up_step?");
        assertProblem("name: [a]", "got a list, expected a string");
    }

    @Test
    void suggestsTheClosestKey() {
        assertProblem(
                "section:\n  dpeth: 50\n",
                "recipe.yaml:2: section.dpeth: unknown key; did you mean depth?"
                        + " (known: depth, out_indices)");
        assertProblem("zzzzzzzz: 1", "zzzzzzzz: unknown key (known: epochs, seed");
    }

    @Test
    void listsKnownComponents() {
        assertProblem(
                "optimizer: {type: sdg}",
                "optimizer.type: unknown type sdg; did you mean sgd? (known: adamw, lamb, rprop,"
                        + " sgd)");
        assertProblem("stages: [{lr: 1}]", "stages[0].type: got a map, expected one of");
        assertProblem("optimizer: sgd", "expected a map with a type");
        assertProblem(
                "optimizer: {type: adamw, momentum: 0.9}",
                "optimizer.momentum: unknown key (known: lr, weight_decay)");
    }

    @Test
    void problemsOfRecordsNameTheKey() {
        assertProblem(
                "name: x\nsection:\n  out_indices: []\n  depth: -1",
                "recipe.yaml:4: section.depth: got -1, expected at least 1");
    }

    @Test
    void reportsBoundsTogetherWithOtherProblems() {
        String message =
                failure(
                        """
                        section:
                          depth: deep
                          out_indices:
                            - 0
                            - 7
                        extra: {depth: 2000000000, out_indices: [-1]}
                        """);
        assertTrue(message.startsWith("config: 4 problems"), message);
        assertTrue(message.contains("recipe.yaml:2: section.depth: got the string"), message);
        assertTrue(
                message.contains(
                        "recipe.yaml:5: section.out_indices[1]: got 7, expected at most 3"),
                message);
        assertTrue(
                message.contains("recipe.yaml:6: extra.depth: got 2000000000, expected at most"),
                message);
        assertTrue(message.contains("extra.out_indices[0]: got -1"), message);
    }

    @Test
    void allProblemsAreReportedTogether() {
        String message =
                failure(
                        """
                        epochs: x
                        scales: [1, a]
                        section: {depth: 0}
                        stages: [{type: b}]
                        q: 1
                        """);

        assertTrue(message.startsWith("config: 5 problems"), message);
        assertTrue(message.contains("scales[1]"), message);
        assertTrue(message.contains("stages[0].type"), message);
    }

    @Test
    void recordsRoundTripThroughConfigs() {
        Recipe recipe = bind("{stages: [{type: adamw, lr: 3}], multipliers: {a.b: 1}, warm_up: 3}");

        String yaml = ConfigWriter.yaml(Configs.unbind(recipe));

        assertEquals(recipe, bind(yaml), yaml);
        Recipe usual = Configs.of(Recipe.class);
        assertEquals(usual, bind(ConfigWriter.yaml(Configs.unbind(usual))));
    }

    @Test
    void createsRecordsFromSettings() {
        Recipe recipe = Configs.of(Recipe.class, "epochs=3", "optimizer.lr=0.1", "scales=[1, 2]");

        assertEquals(3, recipe.epochs());
        assertEquals(new Recipe.Sgd(0.1, 0.8), recipe.optimizer());
        assertEquals(List.of(1.0, 2.0), recipe.scales());
        assertEquals(4, Configs.with(recipe, "epochs=4").epochs());
        assertEquals(recipe.optimizer(), Configs.with(recipe, "epochs=4").optimizer());
        assertEquals(
                new Recipe.AdamW(1e-4, 0.05),
                Configs.with(recipe, "optimizer={type: adamw}").optimizer());
        assertEquals(
                Configs.with(recipe, "warm_up=5", "optimizer={type: adamw, lr: 1.0}"),
                Configs.of(
                        Recipe.class,
                        Map.of(
                                "epochs",
                                3,
                                "warm_up",
                                Optional.of(5),
                                "optimizer",
                                new Recipe.AdamW(1, 0.05),
                                "scales",
                                List.of(1, 2))));
        assertTrue(
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        Configs.of(
                                                Recipe.class,
                                                Map.of("section", Map.of("dept", 18))))
                        .getMessage()
                        .contains("settings: section.dept: unknown key; did you mean depth?"));
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Configs.of(Recipe.class, "epoch=3", "section.depth=0"))
                        .getMessage();
        assertTrue(message.contains("epoch: unknown key; did you mean epochs?"), message);
        assertTrue(message.contains("section.depth: got 0, expected at least 1"), message);
    }

    @Test
    void aVariantIsTheDefaultOfTheOtherKeys() {
        Recipe.Lamb small = Configs.of(Recipe.Lamb.class);
        Recipe.Lamb large = Configs.of(Recipe.Lamb.class, "variant=large", "out_indices=[1]");

        assertEquals(new Recipe.Section(50, List.of(0, 1, 2, 3)), small.section());
        assertEquals(new Recipe.Section(100, List.of(0, 1, 2, 3)), small.whole());
        assertEquals(0.3, large.lr());
        assertEquals(new Recipe.Section(7, List.of(0, 1, 2, 3)), large.section());
        assertEquals(new Recipe.Section(200, List.of(1)), large.whole());
        assertEquals(large, Configs.with(large));
        assertEquals(List.of(1), Configs.with(large, "variant=small").whole().outIndices());
        assertEquals(0.1, Configs.with(large, "variant=small").lr());
        assertProblem(
                "optimizer: {type: lamb, variant: lagre}",
                "optimizer.variant: unknown variant lagre; did you mean large?");
    }

    @Test
    void unwrappedSettingsAreOnTheSameLevel() {
        Recipe recipe = bind("optimizer: {type: lamb, depth: 9, out_indices: [2]}");

        assertEquals(new Recipe.Section(9, List.of(2)), ((Recipe.Lamb) recipe.optimizer()).whole());
        String yaml = ConfigWriter.yaml(Configs.unbind((Record) recipe.optimizer()));
        assertTrue(yaml.contains("\ndepth: 9\nout_indices: [2]\n"), yaml);
        assertEquals(recipe, bind(ConfigWriter.yaml(Configs.unbindChanges(recipe))));
        assertProblem(
                "optimizer:\n  type: lamb\n  out_indices: [7]\n  dept: 3",
                "recipe.yaml:3: optimizer.out_indices[0]: got 7, expected at most 3");
        assertProblem(
                "optimizer:\n  type: lamb\n  dept: 3",
                "recipe.yaml:3: optimizer.dept: unknown key; did you mean depth?");
    }

    @Variant(name = "small")
    private record Chosen(String variant) {}

    @Test
    void aVariantWithoutDefaultIsRequired() {
        String message =
                assertThrows(SaccadeException.class, () -> Configs.of(Chosen.class)).getMessage();

        assertTrue(message.endsWith("variant: missing; this key is required"), message);
        assertEquals("small", Configs.of(Chosen.class, "variant=small").variant());
    }

    private record Nameless() implements ComponentConfig {}

    @Test
    void rejectsAComponentWithoutAName() {
        String message =
                assertThrows(SaccadeException.class, () -> Configs.variants(Nameless.class))
                        .getMessage();

        assertTrue(message.contains("Nameless: expected a record with @Component"), message);
    }

    @Test
    void variantsHaveTheirNames() {
        Map<String, Recipe.Optimizer> lambs = Configs.variants(Recipe.Lamb.class);
        Map<String, Recipe.Optimizer> rprops = Configs.variants(Recipe.Rprop.class);

        assertEquals(List.of("lamb_small", "lamb_large"), List.copyOf(lambs.keySet()));
        assertEquals(new Recipe.Rprop(10), rprops.get("rprop10"));
        assertEquals(new Recipe.Rprop(20), rprops.get("rprop20"));
        assertEquals(
                Map.of("sgd", new Recipe.Sgd(0.02, 0.9)),
                Configs.<Recipe.Optimizer>variants(Recipe.Sgd.class));
    }

    @Test
    void javaValuesEqualYamlValues() {
        Map<String, Object> none = new HashMap<>();
        none.put("warm_up", null);
        assertEquals(Optional.empty(), Configs.of(Recipe.class, none).warmUp());
        assertEquals(7, Configs.of(Recipe.class, Map.of("epochs", (short) 7)).epochs());
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Configs.of(Recipe.class, Map.of("scales", new int[1])))
                        .getMessage();
        assertTrue(
                message.contains("settings: scales: got an object of type int[], expected a list"),
                message);
    }

    private static Recipe bind(String yaml) {
        return Configs.bind(YamlReader.read(yaml, new Origin("recipe.yaml", 1, 1)), Recipe.class);
    }

    private static void assertProblem(String yaml, String expected) {
        String message = failure(yaml);
        assertTrue(message.contains(expected), message);
    }

    private static String failure(String yaml) {
        return assertThrows(SaccadeException.class, () -> bind(yaml)).getMessage();
    }
}

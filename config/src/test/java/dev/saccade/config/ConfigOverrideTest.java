package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class ConfigOverrideTest {

    private static final ConfigNode.Mapping CONFIG =
            ConfigFile.parse(
                    """
                    stages:
                    - {type: sgd, lr: 0.5}
                    - {type: adamw}
                    scales: [1, 2, 3]
                    epochs: 3
                    """,
                    "file");

    private static Recipe recipe(String... settings) {
        return Configs.bind(
                Configs.withOverrides(CONFIG, List.of(settings), Recipe.class), Recipe.class);
    }

    @Test
    void listItemsAreAddressedByIndex() {
        Recipe recipe = recipe("stages.0.momentum=0.7", "stages[1].lr=0.3", "scales.2=9");
        assertEquals(
                List.of(new Recipe.Sgd(0.5, 0.7), new Recipe.AdamW(0.3, 0.05)), recipe.stages());
        assertEquals(List.of(1.0, 2.0, 9.0), recipe.scales());
        assertEquals(
                new Recipe.Sgd(0.1, 0.9), recipe("stages.1={type: sgd, lr: 0.1}").stages().get(1));
    }

    @Test
    void defaultListsHaveItems() {
        assertEquals(
                List.of(0, 1, 2, 2),
                recipe("extra={}", "extra.out_indices.3=2").extra().get().outIndices());
        assertEquals(
                List.of(1),
                Configs.with(Configs.of(Recipe.class), "section.out_indices.0=1")
                        .section()
                        .outIndices());
    }

    @Test
    void reportsTheLengthForMissingItems() {
        assertRefused("stages.2.lr=1", "stages: got 2, expected an index from 0 to 1");
        assertRefused("stages.lr=1", "stages: got lr, expected an index from 0 to 1");
        assertRefused(
                "scales.99999999999=1", "scales: got 99999999999, expected an index from 0 to 2");
        assertEquals(
                "settings empty.0=1: empty: got 0, expected no index, because the list is empty",
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        ConfigFile.withOverrides(
                                                ConfigFile.parse("empty: []", "file"),
                                                List.of("empty.0=1")))
                        .getMessage()
                        .replaceFirst("config: ", ""));
    }

    private static void assertRefused(String setting, String expected) {
        String told = assertThrows(SaccadeException.class, () -> recipe(setting)).getMessage();
        assertTrue(told.contains("settings " + setting + ": " + expected), told);
    }

    @Property
    void noOtherItemChanges(
            @ForAll @Size(min = 1, max = 9) List<Integer> items,
            @ForAll @IntRange(max = 8) int at) {
        int index = at % items.size();
        String list = "scales=" + items;
        List<Double> expected = new ArrayList<>(items.stream().map(Integer::doubleValue).toList());
        expected.set(index, 0.25);
        assertEquals(expected, recipe(list, Text.format("scales.%d=0.25", index)).scales());
    }

    @Test
    void settingEpochsReplacesIterations() {
        ConfigNode.Mapping long40k =
                ConfigFile.parse("iterations: 40000\nevery: {epochs: 2}", "file");
        assertEquals(
                "every:\n  iterations: 7\nepochs: 3\n",
                ConfigWriter.yaml(
                        ConfigFile.withOverrides(
                                long40k, List.of("epochs=3", "every.iterations=7"))));
        assertEquals(
                "iterations: 40000\nevery:\n  epochs: 2\nepochs: null\n",
                ConfigWriter.yaml(ConfigFile.withOverrides(long40k, List.of("epochs=null"))));
    }
}

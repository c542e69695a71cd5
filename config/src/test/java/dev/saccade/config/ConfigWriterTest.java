package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class ConfigWriterTest {

    private static final Origin ORIGIN = new Origin("a.yaml", 1, 1);

    @Property(tries = 300)
    void textsAreReadBack(@ForAll String text) {
        assertReadBack(text.replaceAll("[\ud800-\udfff]", ""));
    }

    @Property(tries = 300)
    void numbersAreReadBack(@ForAll double number, @ForAll long integer) {
        assertReadBack(number);
        assertReadBack(integer);
    }

    @Test
    void textsThatLookLikeSomethingElseAreReadBack() {
        for (String text : List.of("", "null", "true", "1e-4", ".inf", "~", "- a", "a: b", "#")) {
            assertReadBack(text);
        }
    }

    private static void assertReadBack(Object value) {
        ConfigNode scalar = new ConfigNode.Scalar(value, Origin.DEFAULT);
        ConfigNode list = new ConfigNode.Sequence(List.of(scalar), Origin.DEFAULT);
        ConfigNode map = new ConfigNode.Mapping(Map.of("key", scalar), Origin.DEFAULT);
        ConfigNode.Mapping config =
                new ConfigNode.Mapping(
                        Map.of("list", list, "maps", new ConfigNode.Sequence(List.of(map), ORIGIN)),
                        ORIGIN);

        ConfigNode read = YamlReader.read(ConfigWriter.yamlWithOrigins(config), ORIGIN);

        assertEquals(ConfigWriter.yaml(config), ConfigWriter.yaml((ConfigNode.Mapping) read));
        ConfigNode back = ((ConfigNode.Mapping) read).get("list").orElseThrow();
        assertEquals(
                value, ((ConfigNode.Scalar) ((ConfigNode.Sequence) back).items().get(0)).value());
    }

    @Test
    void linesContainTheOriginOfTheirValue() {
        ConfigNode source =
                YamlReader.read("epochs: 3\nstages:\n- {type: sgd}\n- {type: adamw}", ORIGIN);
        Recipe recipe = Configs.bind(source, Recipe.class);

        List<String> lines =
                ConfigWriter.yamlWithOrigins(Configs.unbind(recipe).withOriginsOf(source))
                        .lines()
                        .map(line -> line.replaceAll(" +#", " #"))
                        .toList();

        assertTrue(lines.contains("epochs: 3 # a.yaml:1"), lines.toString());
        assertTrue(lines.contains("  - type: adamw # a.yaml:4"), lines.toString());
        assertTrue(lines.contains("    weight_decay: 0.05 # default"), lines.toString());
        assertTrue(lines.contains("learning_rate: 1.0E-7 # default"), lines.toString());
        assertTrue(lines.contains("section:"), lines.toString());
    }

    @Test
    void jsonContainsValuesAndOrigins() {
        ConfigNode config = YamlReader.read("a: {b: [1, x]}\nc: [{d: null}]\n", ORIGIN);

        String json = ConfigWriter.json((ConfigNode.Mapping) config).replaceAll("\\s+", "");

        assertEquals(
                "{\"config\":{\"a\":{\"b\":[1,\"x\"]},\"c\":[{\"d\":null}]},"
                        + "\"origins\":{\"a.b\":\"a.yaml:1\",\"c[0].d\":\"a.yaml:2\"}}",
                json);
    }
}

package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Compares the bundled recipes with the config folder. */
class ZooTest {

    private static final Path CONFIGS = Path.of("..", "configs");

    /** Results that belong in the table, not in a comment of a config. */
    private static final Pattern FIGURE = Pattern.compile("#.*\\b(AP|mIoU|top-?1)\\b.*\\d");

    /** Training did not converge in the paper. */
    private static final String DIVERGED = "classification/unified_swin_net7_identity_imagenet";

    private static final Zoo ZOO = Zoo.packaged();

    static Collection<Recipe> recipes() {
        return ZOO.recipes();
    }

    private static List<String> files() throws IOException {
        try (Stream<Path> files = Files.walk(CONFIGS)) {
            return files.map(file -> CONFIGS.relativize(file).toString())
                    .filter(name -> name.matches("(?!_base_).*/.*\\.yaml"))
                    .map(name -> name.substring(0, name.length() - ".yaml".length()))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void listsEveryConfig() throws IOException {
        assertEquals(files(), ZOO.recipes().stream().map(Recipe::name).sorted().toList());
    }

    @Test
    void onlyTheTableContainsResults() throws IOException {
        for (String name : files()) {
            String text = Files.readString(CONFIGS.resolve(name + ".yaml"));
            assertTrue(!FIGURE.matcher(text).find(), name);
        }
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void equalsTheConfigInTheFolder(Recipe recipe) {
        ConfigNode.Mapping file =
                ConfigFile.load(CONFIGS.resolve(recipe.name() + ".yaml"), List.of());
        assertEquals(file.withOriginsOf(recipe.config()), recipe.config());
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void knowsPublicationAndTargets(Recipe recipe) {
        boolean coco = recipe.name().matches(".*_(coco|torchvision)");
        boolean ade20k = recipe.name().endsWith("_ade20k");
        boolean imagenet = recipe.name().endsWith("_imagenet");
        assertEquals(coco || ade20k || imagenet, recipe.publication().isPresent());
        if (imagenet) {
            boolean hasResults = recipe.published().containsKey("top1");
            assertEquals(!DIVERGED.equals(recipe.name()), hasResults);
            List<String> classes = recipe.spec().classes();
            assertEquals(1000, classes.size());
            assertEquals(
                    List.of("tench", "toilet tissue"), List.of(classes.get(0), classes.get(999)));
            return;
        }
        if (recipe.publication().isEmpty()) {
            SaccadeException error = assertThrows(SaccadeException.class, recipe::spec);
            assertTrue(error.getMessage().contains("only in the data set"), error.getMessage());
            return;
        }
        ModelSpec spec = recipe.spec();
        assertEquals(recipe.targets(), spec.model().head().targets().predicted());
        assertEquals(coco ? 80 : 150, spec.classes().size());
        assertEquals(coco ? "person" : "wall", spec.classes().get(0));
        assertEquals(coco ? "toothbrush" : "flag", spec.classes().get(spec.classes().size() - 1));
        boolean labels = recipe.targets() == TargetKind.LABEL_MAPS;
        boolean masks = recipe.targets() == TargetKind.MASKS;
        Set<String> results = recipe.published().keySet();
        assertTrue(!labels || !results.contains("box_ap"));
        assertTrue(labels || !results.contains("miou"));
        assertEquals(masks && results.contains("box_ap"), results.contains("mask_ap"));
    }

    @Test
    void hasThePublishedResults() {
        assertEquals(
                Map.of(
                        "box_ap", new BigDecimal("47.2"),
                        "mask_ap", new BigDecimal("42.7"),
                        "parameters", new BigDecimal("48.8"),
                        "flops", new BigDecimal("291")),
                ZOO.recipe("mask_rcnn/focal_tiny_fpn_3x_coco").published());
        assertEquals(
                Map.of(
                        "miou_scales", new BigDecimal("47.7"),
                        "parameters", new BigDecimal("61"),
                        "flops", new BigDecimal("946")),
                ZOO.recipe("upernet/elsa_swin_tiny_160k_ade20k").published());
        assertEquals(
                "MIT",
                ZOO.recipe("cascade_mask_rcnn/elsa_swin_tiny_fpn_1x_coco")
                        .publication()
                        .orElseThrow()
                        .license()
                        .orElseThrow());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn/swin_tiny_1x_coco", "mask_rcnn/swin_tiny_fpn_1x_coc"})
    void suggestsTheNearestName(String name) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> ZOO.recipe(name));
        assertEquals(
                "unknown recipe " + name + "; did you mean mask_rcnn/swin_tiny_fpn_1x_coco?",
                error.getMessage());
    }
}

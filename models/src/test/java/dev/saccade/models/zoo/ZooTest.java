package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The recipes that come with the library, held against the folder of configs. */
class ZooTest {

    private static final Path CONFIGS = Path.of("..", "configs");

    /** Figures that belong into the table, not into a comment of a config. */
    private static final Pattern FIGURE = Pattern.compile("#.*\\b(AP|mIoU)\\b.*\\d");

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
    void theTableAloneHoldsFigures() throws IOException {
        for (String name : files()) {
            String text = Files.readString(CONFIGS.resolve(name + ".yaml"));
            assertTrue(!FIGURE.matcher(text).find(), name);
        }
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void isTheConfigOfTheFolder(Recipe recipe) {
        ConfigNode.Mapping file =
                ConfigFile.load(CONFIGS.resolve(recipe.name() + ".yaml"), List.of());
        assertEquals(file.withOriginsOf(recipe.config()), recipe.config());
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void saysWhatIsKnownOfIt(Recipe recipe) {
        boolean coco = recipe.name().endsWith("_coco");
        boolean ade20k = recipe.name().endsWith("_ade20k");
        assertEquals(coco || ade20k, recipe.original().isPresent());
        assertEquals(recipe.published().by().isPresent(), recipe.original().isPresent());
        if (recipe.original().isEmpty()) {
            assertEquals(Map.of(), recipe.published().figures());
            SaccadeException error = assertThrows(SaccadeException.class, recipe::spec);
            assertTrue(error.getMessage().contains("named by its data"), error.getMessage());
            return;
        }
        ModelSpec spec = recipe.spec();
        assertEquals(recipe.targets(), spec.model().head().targets().measured());
        assertEquals(coco ? 80 : 150, spec.classes().size());
        assertEquals(coco ? "person" : "wall", spec.classes().get(0));
        assertEquals(coco ? "toothbrush" : "flag", spec.classes().get(spec.classes().size() - 1));
        assertTrue(recipe.published().parameters().isPresent());
        boolean labels = recipe.targets() == TargetKind.LABEL_MAPS;
        boolean masks = recipe.targets() == TargetKind.MASKS;
        assertTrue(!labels || recipe.published().boxAp().isEmpty());
        assertTrue(labels || recipe.published().miou().isEmpty());
        assertEquals(
                masks && recipe.published().boxAp().isPresent(),
                recipe.published().maskAp().isPresent());
    }

    @Test
    void hasTheFiguresOfThePapers() {
        assertEquals(
                Map.of("box_ap", 43.7, "mask_ap", 39.8, "parameters", 47.8, "flops", 264.0),
                ZOO.recipe("mask_rcnn/swin_tiny_fpn_1x_coco").published().figures());
        assertEquals(
                Map.of("miou", 45.8, "miou_scales", 47.0, "parameters", 62.0, "flops", 998.0),
                ZOO.recipe("upernet/focal_tiny_160k_ade20k").published().figures());
        assertEquals(
                "MIT",
                ZOO.recipe("cascade_mask_rcnn/elsa_swin_tiny_fpn_1x_coco")
                        .original()
                        .orElseThrow()
                        .license()
                        .orElseThrow());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn/swin_tiny_1x_coco", "mask_rcnn/swin_tiny_fpn_1x_coc"})
    void namesTheNearest(String name) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> ZOO.recipe(name));
        assertEquals(
                "no recipe " + name + "; did you mean mask_rcnn/swin_tiny_fpn_1x_coco?",
                error.getMessage());
    }
}

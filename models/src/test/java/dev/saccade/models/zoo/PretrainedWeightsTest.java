package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.backbones.Swin;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.TargetKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the list of published weights with backbones and recipes. */
class PretrainedWeightsTest {

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]+");
    private static final Pattern FILE = Pattern.compile("[A-Za-z0-9][\\w.-]*\\.pth");
    private static final Pattern CHECKSUM_IN_NAME = Pattern.compile(".*-([0-9a-f]{8})\\.pth");
    private static final Zoo ZOO = Zoo.packaged();

    static Collection<PretrainedWeights> weights() {
        return PretrainedWeights.all();
    }

    static Collection<Recipe> recipes() {
        return ZOO.recipes();
    }

    @ParameterizedTest
    @MethodSource("weights")
    void everyEntryIsValid(PretrainedWeights weights) {
        assertTrue(NAME.matcher(weights.name()).matches());
        assertTrue(FILE.matcher(weights.file()).matches(), weights.file());
        assertFalse(weights.title().isBlank());
        assertFalse(weights.modelName().isBlank());
        assertTrue(weights.fits(weights.backbone()));
        boolean isPublished = weights.url().isPresent() || weights.page().isPresent();
        assertEquals(isPublished, weights.license().isPresent());
        assertTrue(weights.url().isEmpty() || weights.page().isEmpty());
        weights.url().ifPresent(PretrainedWeightsTest::requireHttps);
        weights.page().map(URI::create).ifPresent(PretrainedWeightsTest::requireHttps);
        if (isPublished) {
            requireHttps(URI.create(weights.source()));
        }
        weights.mebibytes().ifPresent(size -> assertTrue(size > 1 && size < 2000));
        boolean isTorchvision = weights.title().contains("torchvision");
        Matcher ofName = CHECKSUM_IN_NAME.matcher(weights.file());
        assertEquals(
                isTorchvision && ofName.matches() ? Optional.of(ofName.group(1)) : Optional.empty(),
                weights.sha256());
        weights.recipe().ifPresent(ZOO::recipe);
    }

    private static void requireHttps(URI address) {
        assertEquals("https", address.getScheme());
        assertFalse(address.getHost().isEmpty());
        assertEquals(address, address.normalize());
    }

    @Test
    void fileNamesAreUnique() {
        Set<String> files = new HashSet<>();
        for (PretrainedWeights weights : weights()) {
            assertTrue(files.add(weights.file()), weights.file());
        }
        assertTrue(files.size() > 80, files.size() + " files");
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void publishedRecipesUseWeightsOfTheirBackbone(Recipe recipe) {
        Optional<PretrainedWeights> initial =
                recipe.config()
                        .get("init_from")
                        .map(node -> ((ConfigNode.Scalar) node).value().toString())
                        .map(PretrainedWeights::named);
        boolean fromScratch =
                recipe.targets() == TargetKind.CLASSES
                        || recipe.name().matches(".*_rcnn/resnet50_fpn_v2_torchvision");
        assertEquals(recipe.publication().isPresent() && !fromScratch, initial.isPresent());
        initial.ifPresent(
                weights -> {
                    assertTrue(weights.fits(recipe.model().backbone()), weights.name());
                    assertTrue(weights.recipe().isEmpty(), "of a classifier");
                });
    }

    @Test
    void onlyElsaSwinBaseIsEvaluatedWithAveragedWeights() {
        assertEquals(
                List.of("elsa_swin_base"),
                weights().stream()
                        .filter(PretrainedWeights::ema)
                        .map(PretrainedWeights::name)
                        .toList());
    }

    @Test
    void opensAveragedWeightsLikeTheAuthors(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("both.pth");
        try (InputStream both =
                PretrainedWeightsTest.class.getResourceAsStream("state_dict_and_ema.pth")) {
            Files.copy(both, file);
        }
        Map<String, Tensor> averaged = TorchFile.readAveraged(file).tensors();
        assertNotEquals(averaged, Checkpoints.open(file).tensors());
        assertEquals(averaged, PretrainedWeights.named("elsa_swin_base").open(file).tensors());
        assertEquals(
                Checkpoints.open(file).tensors(),
                PretrainedWeights.named("elsa_swin_small").open(file).tensors());
    }

    @Test
    void listsWeightsForABackbone() {
        Backbone.Config tiny = Configs.of(Swin.Config.class, "drop_path_rate=0.3");
        List<String> fitting =
                PretrainedWeights.forBackbone(tiny).stream().map(PretrainedWeights::name).toList();
        assertTrue(
                fitting.containsAll(
                        List.of(
                                "swin_tiny",
                                "swin_tiny_22k",
                                "swin_tiny_torchvision",
                                "mask_rcnn_swin_tiny_fpn_3x_coco",
                                "upernet_swin_tiny_160k_ade20k")),
                fitting::toString);
        assertTrue(
                fitting.stream().allMatch(name -> name.contains("swin_tiny")), fitting::toString);
        assertFalse(fitting.stream().anyMatch(name -> name.contains("elsa")), fitting::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "resnet50, depth=50, true",
        "resnet50, 'out_indices=[2, 3]', true",
        "resnet50, depth=101, false",
        "resnet101, depth=50, false",
        "resnet50, deep_stem=true, false",
        "resnet50_v1c, deep_stem=true, true",
        "resnet50, base_channels=32, false",
        "mask_rcnn_resnet50_fpn_1x_coco, frozen_stages=2, true"
    })
    void anotherDepthOrStemDoesNotFit(String name, String setting, boolean fits) {
        Backbone.Config backbone =
                Configs.with(PretrainedWeights.named("resnet50").backbone(), setting);
        assertEquals(fits, PretrainedWeights.named(name).fits(backbone));
    }

    @Test
    void otherWindowSizesFit() {
        assertTrue(
                PretrainedWeights.named("swin_base")
                        .fits(Configs.of(Swin.Config.class, "variant=base_w12")));
    }

    @ParameterizedTest
    @CsvSource({
        "swin_tinny, ; did you mean swin_tiny?",
        "resnet50-0676ba61.pth, ; did you mean resnet50?",
        "../../etc/passwd, ''"
    })
    void suggestsTheNearestName(String name, String nearest) {
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> PretrainedWeights.named(name));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertEquals("unknown pretrained weights " + name + nearest, error.getMessage());
    }
}

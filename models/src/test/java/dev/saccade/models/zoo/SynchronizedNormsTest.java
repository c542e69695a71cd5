package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.backbones.ResNet;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.models.ModelConfig;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.Set;

/** Recipes use SyncBN where mmdetection, mmsegmentation and torchvision do. */
class SynchronizedNormsTest {

    /** HTC++ with Swin uses the box heads of its Cascade Mask R-CNN. */
    private static final Set<String> SYNCHRONIZED =
            Set.of("cascade_mask_rcnn/", "semantic_fpn/", "upernet/", "htc/swin_");

    /** torchvision trains version 2 of its detectors with {@code --sync-bn}. */
    private static final String TORCHVISION_V2 = "_v2_torchvision";

    /** This head divides its losses by means over all ranks. */
    private static final Set<String> ATSS = Set.of("atss/", "dyhead/");

    static List<Recipe> recipes() {
        return Zoo.packaged().recipes().stream()
                .filter(recipe -> recipe.publication().isPresent())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void matchTheToolkits(Recipe recipe) {
        boolean expected =
                SYNCHRONIZED.stream().anyMatch(recipe.name()::startsWith)
                        || recipe.name().endsWith(TORCHVISION_V2);
        boolean isAtss = ATSS.stream().anyMatch(recipe.name()::startsWith);
        ModelConfig model = recipe.model();
        assertEquals(expected || isAtss, model.build(List.of("a", "b")).synchronizes());
        if (model.backbone() instanceof ResNet.Config resnet) {
            assertEquals(expected, resnet.norm() == BatchNormType.SYNC_BN);
        }
    }
}

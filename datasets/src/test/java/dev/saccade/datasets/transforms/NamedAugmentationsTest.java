package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;

class NamedAugmentationsTest {

    private static final TestTimeAugmentation FLIP = new TestTimeAugmentation(List.of(), true);

    private static NamedAugmentations views(String valViews) {
        return new NamedAugmentations(Map.of("flipped", FLIP), Optional.ofNullable(valViews));
    }

    @Test
    void areFoundByName() {
        assertEquals(Optional.of(FLIP), views(null).named("flipped"));
        assertEquals(Optional.empty(), views("flipped").named("none"));
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> views(null).named("fliped"));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains("none or one of [flipped]"), thrown.getMessage());
    }

    @Test
    void mustNameTheDefaultOfEval() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> views("multi_scale"));
        assertTrue(
                thrown.getMessage()
                        .contains("val_views: got multi_scale, expected a name in views"),
                thrown.getMessage());
        assertThrows(
                IllegalArgumentException.class,
                () -> new NamedAugmentations(Map.of("none", FLIP), Optional.empty()));
    }

    @Test
    void nameTheViewsThatTheTransformsCannotCreate() {
        NamedAugmentations large =
                new NamedAugmentations(
                        Map.of("large", new TestTimeAugmentation(List.of(), List.of(90.0), false)),
                        Optional.empty());
        IllegalArgumentException thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> large.requireFor(List.of(Configs.of(Resize.class))));
        assertTrue(thrown.getMessage().contains("views.large.scales"), thrown.getMessage());
    }
}

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

    private static NamedAugmentations tta(String valTta) {
        return new NamedAugmentations(Map.of("flipped", FLIP), Optional.ofNullable(valTta));
    }

    @Test
    void areFoundByName() {
        assertEquals(Optional.of(FLIP), tta(null).named("flipped"));
        assertEquals(Optional.empty(), tta("flipped").named("none"));
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> tta(null).named("fliped"));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains("none or one of [flipped]"), thrown.getMessage());
    }

    @Test
    void mustNameTheDefaultOfEval() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> tta("multi_scale"));
        assertTrue(
                thrown.getMessage().contains("val_tta: got multi_scale, expected a name in tta"),
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
        assertTrue(thrown.getMessage().contains("tta.large.scales"), thrown.getMessage());
    }
}

package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.CaseFormat;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A part of a recipe is replaced by naming another type, whatever the recipe says of the first. */
class ReplacedComponentsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "retinanet/resnet50_fpn_1x_coco.yaml",
                "mask_rcnn/resnet50_fpn_1x_coco.yaml",
                "cascade_mask_rcnn/swin_tiny_fpn_1x_coco.yaml"
            })
    void byItsTypeAlone(String recipe) throws ReflectiveOperationException {
        Path file = Path.of("..", "configs").resolve(recipe);
        Map<String, Set<String>> types = new TreeMap<>();
        collect("model.head", (Record) RunConfig.load(file).model().head(), types);
        assertTrue(types.size() > 3, recipe);

        for (Map.Entry<String, Set<String>> place : types.entrySet()) {
            for (String type : place.getValue()) {
                try {
                    RunConfig.load(file, place.getKey() + "={type: " + type + "}");
                } catch (SaccadeException e) {
                    assertFalse(e.getMessage().contains("unknown key"), e.getMessage());
                }
            }
        }
    }

    private static void collect(String path, Record config, Map<String, Set<String>> types)
            throws ReflectiveOperationException {
        for (RecordComponent component : config.getClass().getRecordComponents()) {
            String name =
                    CaseFormat.LOWER_CAMEL.to(CaseFormat.LOWER_UNDERSCORE, component.getName());
            Class<?> kind = component.getType();
            if (kind.isInterface() && ComponentConfig.class.isAssignableFrom(kind)) {
                types.put(
                        path + "." + name,
                        Configs.registered(kind.asSubclass(ComponentConfig.class)).keySet());
            } else if (kind.isRecord()) {
                component.getAccessor().setAccessible(true);
                boolean isUnwrapped = component.isAnnotationPresent(Unwrapped.class);
                collect(
                        isUnwrapped ? path : path + "." + name,
                        (Record) component.getAccessor().invoke(config),
                        types);
            }
        }
    }
}

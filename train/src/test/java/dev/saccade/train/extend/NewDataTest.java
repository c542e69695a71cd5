package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.testsupport.TestImages;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

class NewDataTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> OLD = List.of("cup", "fork");

    @TempDir Path folder;

    /** Writes an image with an object of each label. */
    private CocoDataset.Config write(String part, List<String> classes, int... labels)
            throws IOException {
        TestImages.write(folder.resolve(part + ".png"), 64, 64, part.length());
        ObjectNode coco = JSON.createObjectNode();
        coco.putArray("images")
                .addObject()
                .put("id", 1)
                .put("file_name", part + ".png")
                .put("width", 64)
                .put("height", 64);
        for (int i = 0; i < classes.size(); i++) {
            coco.withArray("categories").addObject().put("id", i).put("name", classes.get(i));
        }
        for (int i = 0; i < labels.length; i++) {
            coco.withArray("annotations")
                    .addObject()
                    .put("id", i)
                    .put("image_id", 1)
                    .put("category_id", labels[i])
                    .put("area", 144)
                    .put("iscrowd", 0)
                    .putArray("bbox")
                    .add(16 * i)
                    .add(4)
                    .add(12)
                    .add(12);
        }
        JSON.writeValue(folder.resolve(part + ".json").toFile(), coco);
        return new CocoDataset.Config(part + ".json", ".", List.of());
    }

    private NewData.Opened open(List<String> classes, int[] train, int[] val) throws IOException {
        NewData data =
                new NewData(folder, write("train", classes, train), write("val", classes, val));
        return data.open(RunConfig.recipe("retinanet/resnet18_fpn_bccd"), OLD);
    }

    @Test
    void eachPartHasItsOwnLabeledClasses() throws IOException {
        List<String> classes = List.of("fork", "spoon", "cup", "knife");
        NewData.Opened opened = open(classes, new int[] {1, 3, 2}, new int[] {1, 0});
        assertEquals(List.of("cup", "fork", "spoon", "knife"), opened.classes());
        assertEquals(Set.of("cup", "spoon", "knife"), opened.labeled());
        assertEquals(Set.of("fork", "spoon", "knife"), opened.evaluated());
    }

    @Test
    void rejectsNamesThatLookAlike() {
        for (String name : List.of("Cup", "c\u200bup", "cu\u00adp", "\uff43up")) {
            assertSimilar("differs from class \"cup\"", List.of("spoon", name));
        }
        assertSimilar("differs from class \"spoon\"", List.of("spoon", "Spoon"));
    }

    private void assertSimilar(String message, List<String> classes) {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> open(classes, new int[] {0, 1}, new int[] {0, 1}));
        assertTrue(error.getMessage().contains(message), error.getMessage());
    }
}

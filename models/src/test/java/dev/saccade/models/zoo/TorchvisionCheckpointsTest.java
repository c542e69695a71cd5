package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.LoadReport.Status;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Compares recipes with the names and shapes of torchvision's two-stage detectors. */
class TorchvisionCheckpointsTest {

    private static final int CATEGORIES = 90;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "faster_rcnn/resnet50_fpn_torchvision",
                "faster_rcnn/resnet50_fpn_v2_torchvision",
                "mask_rcnn/resnet50_fpn_torchvision",
                "mask_rcnn/resnet50_fpn_v2_torchvision"
            })
    void allTensorsMatchTheRecipe(String recipe) throws IOException {
        ModelSpec spec = Zoo.packaged().recipe(recipe).spec();
        Model<?> model = spec.model().build(spec.classes());
        try (NDManager manager = NDManager.newBaseManager()) {
            model.initialize(manager, 0);
            LoadReport report = model.initializeFrom(RecordedNames.checkpoint(recipe));
            assertEquals(List.of(), report.unexpected());
            assertEquals(List.of(), report.names().get(Status.IGNORED));
            assertEquals(List.of(), report.newParameters());
            assertEquals(model.namedParameters().size(), report.loaded().size());
            assertEquals(
                    List.of(),
                    report.notes().stream().filter(note -> note.contains("not in")).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "faster_rcnn/resnet50_fpn_torchvision",
                "mask_rcnn/resnet50_fpn_v2_torchvision"
            })
    void translatesSaccadeNamesBack(String recipe) throws IOException {
        Checkpoint theirs = RecordedNames.checkpoint(recipe);
        assertEquals(theirs, Naming.of("torchvision").fromSaccade(Naming.toSaccade(theirs)));
    }

    /** torchvision also has background rows for boxes and masks, which no result depends on. */
    @ParameterizedTest
    @CsvSource({
        "faster_rcnn/resnet50_fpn_torchvision, 41755286",
        "faster_rcnn/resnet50_fpn_v2_torchvision, 43712278",
        "mask_rcnn/resnet50_fpn_torchvision, 44401393",
        "mask_rcnn/resnet50_fpn_v2_torchvision, 46359409"
    })
    void hasTheParametersThatTorchvisionPublishes(String recipe, long published) {
        Model<?> model =
                Zoo.packaged()
                        .recipe(recipe)
                        .model()
                        .build(Collections.nCopies(CATEGORIES, "class"));
        boolean frozenNorms = !recipe.contains("v2");
        long ours = 0;
        for (Map.Entry<String, Parameter> each : model.namedParameters().entrySet()) {
            boolean isBuffer = each.getKey().contains(".running_");
            boolean isNorm = each.getKey().matches("backbone\\..*(bn\\d|downsample\\.1)\\..*");
            ours += isBuffer || (frozenNorms && isNorm) ? 0 : each.getValue().getShape().size();
        }
        long background = 4L * (1024 + 1) + (recipe.startsWith("mask") ? 256 + 1 : 0);
        assertEquals(published, ours + background);
    }
}

package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.nn.Quantization;
import dev.saccade.datasets.classification.ImageNet;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.testsupport.TinyModel;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Classifies images, from folders to an exported model. */
class ClassificationTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path folder;

    private Path data;
    private Path config;
    private Path run;

    @BeforeEach
    void prepare() {
        data = folder.resolve("cells");
        config = folder.resolve("cells.yaml");
        run = folder.resolve("run");
    }

    private void writeSplits() {
        ClassFolders.write(data.resolve("train"), 0, 8);
        ClassFolders.write(data.resolve("val"), 8, 3);
    }

    private static CommandResult succeed(Object... arguments) {
        CommandResult ended = saccade(arguments);
        assertEquals(0, ended.code(), List.of(arguments) + ": " + ended.err());
        return ended;
    }

    private CommandResult train(String... settings) {
        List<Object> arguments = new ArrayList<>(List.of("train", config, "--out", run));
        List<String> all = new ArrayList<>(ClassFolders.SMALL);
        all.addAll(List.of(settings));
        all.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        return succeed(arguments.toArray());
    }

    @Test
    void trainsEvaluatesPredictsAndExports() throws IOException {
        writeSplits();
        CommandResult written = succeed("new", data, "--out", config);
        assertTrue(written.err().contains("3 classes: Platelets 8, RBC 8, WBC 8."), written.err());
        CommandResult checked = succeed("check", config);
        assertTrue(checked.out().contains("val: 9 images of 3 classes"), checked.out());

        CommandResult trained = train("iterations=6");
        assertTrue(trained.err().contains("top1"), trained.err());

        CommandResult evaluated = succeed("eval", run, "--flip", "--json");
        double top1 = JSON.readTree(evaluated.out()).findValue("top1").asDouble();
        assertTrue(top1 >= 0 && top1 <= 1, evaluated.out());

        Path found = folder.resolve("found");
        CommandResult predicted = succeed("predict", run, data.resolve("val/RBC"), "--out", found);
        assertTrue(predicted.err().contains(" in 3 images, written to "), predicted.err());
        JsonNode image = JSON.readTree(Files.readString(found.resolve("predictions.json"))).get(0);
        double sum = 0;
        for (JsonNode each : image.get("classes")) {
            assertEquals(
                    ClassFolders.CLASSES.get(each.get("classIndex").asInt()),
                    each.get("label").asText());
            sum += each.get("score").asDouble();
        }
        assertEquals(1, sum, 1e-4);
        assertTrue(Files.exists(found.resolve(image.get("picture").asText())));

        succeed("report", run);
        String report = Files.readString(run.resolve("report.html"));
        for (String text : List.of("Most confident mistakes", "Confusion matrix", "Per-class")) {
            assertTrue(report.contains(text), text);
        }
        assertFalse(report.contains("Score threshold"), "score slider of detectors");

        Path exported = folder.resolve("exported");
        succeed("export", run, "--format", "onnx", "--out", exported);
        JsonNode model = JSON.readTree(Files.readString(exported.resolve("model.json")));
        JsonNode logits = model.get("outputs").get(0);
        assertEquals("logits", logits.get("name").asText());
        assertEquals(
                "the softmax over K is the probability of each class",
                logits.get("meaning").asText());
        assertEquals(3, model.get("classes").size());
    }

    @Test
    void exportsWith8Bits() throws IOException {
        writeSplits();
        succeed("new", data, "--out", config);
        train("iterations=3", "model.backbone.base_channels=16");
        Path best = run.resolve("checkpoints/best.safetensors");
        Checkpoint stored = Checkpoints.open(best);
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        ModelSpec spec = ModelSpec.fromMetadata(metadata, best.toString());
        try (TrainedModel<?> model = TrainedModel.load(best)) {
            List<String> layers = Quantization.layers(model.model());
            metadata.putAll(spec.withQuantizedLayers(layers).toMetadata());
        }
        Path quantized = run.resolve("checkpoints/quantized.safetensors");
        Checkpoints.save(quantized, new Checkpoint(stored.tensors(), metadata));
        Path exported = folder.resolve("exported");
        CommandResult export =
                succeed(
                        "export",
                        quantized,
                        "--format",
                        "onnx",
                        "--out",
                        exported,
                        "--max-drop",
                        1,
                        "--images",
                        9);
        assertTrue(export.out().contains(" in 8 bits, selected on 9 "), export.out());
        assertTrue(export.out().matches("(?s).*\\ntop1 +[01]\\S+ +[01]\\S+\\n.*"), export.out());
        JsonNode model = JSON.readTree(Files.readString(exported.resolve("model.json")));
        assertTrue(model.get("quantized_layers").size() > 5, model.toString());
    }

    @Test
    void predictsWithPublishedWeights() throws IOException {
        String recipe = "deit_tiny_imagenet";
        ModelSpec spec = Zoo.packaged().recipe("classification/" + recipe).spec();
        Path described = TinyModel.save(spec, folder.resolve("described.safetensors"));
        Map<String, Tensor> bare = new HashMap<>();
        Checkpoints.open(described)
                .tensors()
                .forEach((name, value) -> bare.put(name.replaceFirst("^backbone\\.", ""), value));
        Path theirs = folder.resolve("theirs.pth");
        Checkpoints.save(theirs, new Checkpoint(bare, Map.of()));
        Path image = folder.resolve("photo.png");
        ClassFolders.writeImage(image, 1, 3);
        CommandResult unknown = saccade("predict", theirs, image);
        assertTrue(unknown.err().contains("with the recipe of their"), unknown.err());

        Path model = folder.resolve("model.safetensors");
        succeed("convert", theirs, model, "--recipe", recipe);
        JsonNode found =
                JSON.readTree(succeed("predict", model, image, "--json", "--no-pictures").out());
        JsonNode best = found.findValue("classes").get(0);
        assertEquals(
                ImageNet.NAMES.get(best.get("classIndex").asInt()), best.get("label").asText());
        assertEquals(Checkpoints.open(described).tensors(), Checkpoints.open(model).tensors());

        Path again = folder.resolve("again.safetensors");
        CommandResult twice = saccade("convert", model, again, "--recipe", recipe);
        assertTrue(twice.err().contains("already describes its model"), twice.err());
        CommandResult both =
                saccade("convert", theirs, again, "--recipe", recipe, "--part", "head");
        assertTrue(both.err().contains("--recipe cannot be combined"), both.err());
    }

    @Test
    void splitsFoldersWithoutValidationSet() {
        ClassFolders.write(data, 0, 10);
        CommandResult written = succeed("new", data, "--out", config);
        assertTrue(written.err().contains("has no validation folder, such as val"), written.err());
        assertTrue(RunConfig.load(config).data().val().isPresent());
        CommandResult checked = succeed("check", config);
        assertTrue(checked.out().contains("train: 24 images of 3 classes"), checked.out());
        assertTrue(checked.out().contains("val: 6 images of 3 classes"), checked.out());
    }

    @ParameterizedTest
    @CsvSource({
        "resnet18_imagenet, data.train={, image_folder",
        "deit_tiny_imagenet, data.train.dataset={, image_folder"
    })
    void recipesOfImageNetTrainOnOtherClasses(String recipe, String setting, String type) {
        writeSplits();
        CommandResult written = succeed("config", "classification/" + recipe, "--data", data);
        assertTrue(written.err().contains(setting + "type: " + type), written.err());
        assertFalse(written.out().contains("type: imagenet"), written.out());
        CommandResult checked = succeed("check", "classification/" + recipe, "--data", data);
        assertTrue(checked.out().contains("val: 9 images of 3 classes"), checked.out());
    }

    @Test
    void partOfImageNetIsNotAnotherDataset() {
        ClassFolders.writeImage(data.resolve("train/n01440764/1.png"), 0, 0);
        ClassFolders.writeImage(data.resolve("train/n01443537/1.png"), 1, 0);
        ClassFolders.writeImage(data.resolve("val/n01440764/1.png"), 0, 1);
        ClassFolders.writeImage(data.resolve("val/n01443537/1.png"), 1, 1);
        CommandResult checked = saccade("check", "resnet18_imagenet", "--data", data);
        assertEquals(2, checked.code(), checked.err());
        assertTrue(checked.out().contains("lacks 998 of ImageNet's"), checked.out());
    }

    @Test
    void browseShowsAllClasses() throws IOException {
        writeSplits();
        succeed("new", data, "--out", config);
        Path out = folder.resolve("browse");
        succeed("browse", config, "--out", out, "--count", "3", "--image-size", "32x32");
        String page = Files.readString(out.resolve("index.html"));
        for (String name : ClassFolders.CLASSES) {
            assertTrue(page.contains(name + "/0.png"), name);
        }
        assertFalse(page.contains("/1.png"), page);
    }

    @Test
    void checkFindsErrorsInFolders() throws IOException {
        writeSplits();
        Files.copy(
                data.resolve("train/RBC/1.png"), data.resolve("val/WBC/copy of another class.png"));
        Files.writeString(data.resolve("train/WBC/damaged.png"), "no image");
        Files.createDirectories(data.resolve("train/empty"));
        Files.createDirectories(data.resolve("val/empty"));

        CommandResult checked = saccade("check", data);

        assertEquals(2, checked.code(), checked.err());
        for (String text : List.of("damaged.png", "\"empty\" has no images", "copy of another")) {
            assertTrue(checked.out().contains(text), text + " expected in " + checked.out());
        }
    }

    @Test
    void rejectsDifferentClassesInTheSplits() throws IOException {
        writeSplits();
        Files.move(data.resolve("val/WBC"), data.resolve("val/White"));
        CommandResult written = saccade("new", data, "--out", config);
        assertEquals(2, written.code());
        assertTrue(
                written.err()
                        .contains(
                                "data.val: lacks the class \"WBC\" of data.train and has the class"
                                        + " \"White\", which data.train lacks"),
                written.err());
        assertFalse(Files.exists(config));
    }

    @Test
    void crossValidatesAndBrowses() throws IOException {
        writeSplits();
        succeed("new", data, "--out", config);
        Path browsed = folder.resolve("browse");
        succeed("browse", config, "--out", browsed);
        assertTrue(Files.readString(browsed.resolve("index.html")).contains("Platelets"));

        List<Object> arguments =
                new ArrayList<>(
                        List.of("cross-validate", config, "--folds", "2", "--set", "iterations=2"));
        ClassFolders.SMALL.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        arguments.addAll(List.of("--out", folder.resolve("crossval")));
        CommandResult ended = succeed(arguments.toArray());
        assertTrue((ended.out() + ended.err()).contains("top1"), ended.out() + ended.err());
    }

    @Test
    void startsDetectorsFromClassifiers() {
        writeSplits();
        succeed("new", data, "--out", config);
        train("iterations=1");
        CommandResult suggested =
                succeed(
                        "suggest",
                        run,
                        data.resolve("val/RBC"),
                        "--out",
                        folder.resolve("suggested"));
        assertTrue(suggested.out().contains(": predicted "), suggested.out());
        CommandResult tiled =
                saccade("predict", run, data.resolve("val/RBC"), "--tiles", "32x32", "--out", run);
        assertTrue(tiled.err().contains("do not split it into tiles"), tiled.err());
    }
}

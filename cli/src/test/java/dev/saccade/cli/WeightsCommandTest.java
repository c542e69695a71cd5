package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.zoo.PretrainedWeights;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Pretrained weights: list, download and train. */
class WeightsCommandTest {

    private static final String CACHE = "SACCADE_CACHE";

    /** These weights have no published size and checksum, so test weights are accepted. */
    private static final PretrainedWeights V1C = PretrainedWeights.named("resnet18_v1c");

    private static final Path RECIPES = Path.of("..", "configs", "retinanet");
    private static final Path SMALL = RECIPES.resolve("resnet18_fpn_demo.yaml");
    private static final Path PUBLISHED = RECIPES.resolve("resnet18_fpn_1x_coco.yaml");

    @TempDir Path folder;

    private Path run;

    @BeforeEach
    void emptyCache() {
        System.setProperty(CACHE, folder.resolve("cache").toString());
        run = folder.resolve("run");
    }

    @AfterEach
    void forget() {
        System.clearProperty(CACHE);
    }

    private CommandResult train(Path recipe, Object... more) throws IOException {
        Path scenes = folder.resolve("scenes");
        if (!Files.exists(scenes)) {
            SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 4, 2, n -> {});
        }
        List<Object> args = new ArrayList<>(List.of("train", recipe, "--data", scenes));
        args.addAll(List.of("--set", "model.backbone.stem_channels=64"));
        args.addAll(List.of("--set", "model.backbone.base_channels=64"));
        args.addAll(List.of("--set", "model.backbone.deep_stem=true"));
        args.addAll(List.of("--set", "model.neck.out_channels=8"));
        args.addAll(List.of("--set", "model.head.feat_channels=8"));
        args.addAll(List.of("--set", "data.train_transforms=[{type: normalize}, {type: pad}]"));
        args.addAll(List.of("--set", "data.val_transforms=[{type: normalize}, {type: pad}]"));
        args.addAll(List.of("--set", "iterations=1", "--out", run));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    /** Writes random weights in OpenMMLab's format. */
    private Path mirror() throws IOException {
        Path mirror = Files.createDirectories(folder.resolve("mirror"));
        try (NDManager manager = NDManager.newBaseManager()) {
            Backbone backbone = V1C.backbone().build();
            backbone.initialize(manager, 5);
            Checkpoints.save(mirror.resolve(V1C.file()), Checkpoint.of(backbone, Map.of()));
        }
        return mirror;
    }

    @Test
    void trainsFromDownloadedWeightsAndResumesWithoutThem() throws IOException {
        CommandResult fetched = saccade("weights", "fetch", "resnet18_v1c", "--from", mirror());
        assertEquals(0, fetched.code(), fetched.err());
        Path file = V1C.require();
        assertTrue(fetched.err().contains("resnet18_v1c, Apache-2.0: " + file), fetched.err());
        assertTrue(
                saccade("weights").out().lines().anyMatch(l -> l.matches(" +resnet18_v1c .* yes")));

        CommandResult trained = train(SMALL, "--init-from", "resnet18_v1c");
        assertEquals(0, trained.code(), trained.err());
        String log = Files.readString(run.resolve("train.log"));
        assertTrue(
                log.contains(
                        String.format(
                                Locale.ROOT,
                                "weights resnet18_v1c: %s, SHA-256 %s",
                                file,
                                Checkpoints.checksum(file))),
                log);
        int parameters = V1C.backbone().build().namedParameters().size();
        assertTrue(log.contains("loaded " + parameters + " of "), log);
        assertTrue(
                Files.readString(run.resolve("config.yaml")).contains("init_from: resnet18_v1c\n"));

        Files.delete(file);
        CommandResult resumed = saccade("train", run, "--resume", "--set", "iterations=2");
        assertEquals(0, resumed.code(), resumed.err());
    }

    @Test
    void reportsMissingWeightsFirst() {
        CommandResult ended = saccade("train", PUBLISHED, "--data", folder.resolve("nothing_here"));
        assertTrue(
                ended.err().startsWith("saccade: init_from: resnet18 is not downloaded"),
                ended.err());
        assertTrue(ended.err().contains("weights fetch resnet18"), ended.err());
        assertTrue(ended.err().contains("44.7 MiB, BSD-3-Clause"), ended.err());
        assertEquals(2, ended.code());
    }

    @Test
    void trainsFromScratchWithInitFromNone() throws IOException {
        Path config = folder.resolve("mine.yaml");
        Files.writeString(
                config,
                String.format(
                        Locale.ROOT,
                        "base: %s\ninit_from: resnet18\n",
                        SMALL.toAbsolutePath().normalize()));
        CommandResult ended =
                train(config, "--init-from", "none", "--set", "model.backbone.frozen_stages=1");
        assertEquals(0, ended.code(), ended.err());
        String warning =
                "warning: training starts from scratch (init_from: none); pretrained weights for this"
                        + " backbone: resnet18_v1c";
        assertTrue(ended.err().contains(warning), ended.err());
        assertTrue(Files.readString(run.resolve("train.log")).contains(warning));
        assertTrue(ended.err().contains("parameters of the backbone are frozen and random; set"));
    }

    @Test
    void smallRecipesNeedNoWeights() throws IOException {
        CommandResult ended = train(SMALL);
        assertEquals(0, ended.code(), ended.err());
        assertFalse(ended.err().contains("starts from scratch"), ended.err());
    }

    @Test
    void fileTakesPrecedenceOverName() throws IOException {
        Path named = Path.of("resnet18_v1c");
        Files.copy(mirror().resolve(V1C.file()), named);
        try {
            CommandResult trained = train(SMALL, "--init-from", "resnet18_v1c");
            assertEquals(0, trained.code(), trained.err());
            assertTrue(trained.err().contains("weights: resnet18_v1c, SHA-256 "), trained.err());
        } finally {
            Files.delete(named);
        }
    }

    @Test
    void reportsMistakes() {
        CommandResult fetch = saccade("weights", "fetch", "swin_tinny", "resnet5O");
        assertEquals(2, fetch.code());
        assertTrue(fetch.err().contains("did you mean swin_tiny?"), fetch.err());
        assertTrue(fetch.err().contains("did you mean resnet50?"), fetch.err());
        CommandResult train = saccade("train", PUBLISHED, "--init-from", "resnet81");
        assertEquals(2, train.code());
        assertTrue(train.err().contains("did you mean resnet18?"), train.err());
        CommandResult other = saccade("train", PUBLISHED, "--init-from", "resnet50");
        assertEquals(2, other.code());
        assertTrue(
                other.err().contains("resnet50 does not match model.backbone (matching: resnet18,"),
                other.err());
        assertEquals(2, saccade("weights", "fetch").code());
    }

    @Test
    void listsWeightsAsJson() {
        String json = saccade("weights", "--json").out();
        assertTrue(json.contains("\"name\" : \"swin_tiny\""), json);
        assertTrue(json.contains("\"sha256\" : \"0676ba61\""), json);
    }
}

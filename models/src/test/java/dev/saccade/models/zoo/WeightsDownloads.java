package dev.saccade.models.zoo;

import static dev.saccade.models.zoo.WeightsServer.file;

import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Tests that download weights into an empty cache. */
abstract class WeightsDownloads {

    static final String CACHE = "SACCADE_CACHE";
    static final String MIRROR = "SACCADE_WEIGHTS";
    static final String TAG = "\"one\"";

    /** Weights without published size and checksum, so any checkpoint fits. */
    static final PretrainedWeights SWIN = PretrainedWeights.named("swin_tiny");

    /** Weights with published size and checksum. */
    static final PretrainedWeights RESNET = PretrainedWeights.named("resnet18");

    static final PretrainedWeights.Progress SILENT = (bytes, total) -> {};

    @TempDir Path folder;

    Path cache;
    byte[] checkpoint;
    byte[] another;

    @BeforeEach
    void prepare() throws IOException {
        cache = folder.resolve("cache");
        System.setProperty(CACHE, cache.toString());
        checkpoint = checkpoint(1);
        another = checkpoint(2);
    }

    @AfterEach
    void forget() {
        System.clearProperty(CACHE);
        System.clearProperty(MIRROR);
    }

    byte[] checkpoint(float value) throws IOException {
        Path file = folder.resolve("made.pth");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Tensor tensor =
                    Tensor.of(manager.ones(new ai.djl.ndarray.types.Shape(50_000)).mul(value));
            Checkpoints.save(file, new Checkpoint(Map.of("norm.weight", tensor), Map.of()));
        }
        return Files.readAllBytes(file);
    }

    static Path fetch(PretrainedWeights weights, WeightsServer server) {
        return weights.fetch(Optional.of(server.address()), SILENT);
    }

    static SaccadeException refused(PretrainedWeights weights, WeightsServer server) {
        return assertThrows(SaccadeException.class, () -> fetch(weights, server));
    }

    /** Returns the file names in the cache, without locks. */
    List<String> kept() throws IOException {
        try (Stream<Path> files = Files.list(cache.resolve("weights"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.endsWith(".lock"))
                    .sorted()
                    .toList();
        }
    }
}

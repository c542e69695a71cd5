package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.checkpoint.RunFolder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A run with a checkpoint that other runs can start from.
 *
 * @param model backbone and head, such as {@code resnet, linear_cls}
 */
record LocalRun(Path folder, Path checkpoint, String model) {

    /** Returns the runs in a folder by name; none if the folder is missing. */
    static List<LocalRun> all(Path parent) {
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(parent)) {
            return folders.filter(Files::isDirectory)
                    .sorted()
                    .flatMap(folder -> new RunFolder(folder).findBest().stream())
                    .map(LocalRun::of)
                    .collect(ImmutableList.toImmutableList());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", parent, e.getMessage());
        }
    }

    private static LocalRun of(Path checkpoint) {
        return new LocalRun(checkpoint.getParent().getParent(), checkpoint, model(checkpoint));
    }

    private static String model(Path checkpoint) {
        try {
            Map<String, String> metadata = Checkpoints.open(checkpoint).metadata();
            ModelConfig model = ModelSpec.fromMetadata(metadata, checkpoint.toString()).model();
            return model.backbone().type() + ", " + model.head().type();
        } catch (SaccadeException e) {
            return "unreadable";
        }
    }

    String size() {
        return Text.format("%.1f MiB", checkpoint.toFile().length() / (double) (1 << 20));
    }

    /** Returns the run as JSON. */
    Map<String, Object> keys() {
        return ImmutableMap.of(
                "name", folder.toString(),
                "of", model,
                "file", checkpoint.getFileName().toString(),
                "path", checkpoint.toString());
    }
}

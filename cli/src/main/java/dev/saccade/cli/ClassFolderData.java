package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.classification.ImageNet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Replaces ImageNet in a config by a folder of other classes. */
final class ClassFolderData {

    private static final String IMAGENET = "imagenet";

    private ClassFolderData() {}

    /**
     * Returns the data sets that replace ImageNet, by setting; empty for other configs, and if the
     * folder contains ImageNet.
     */
    static Map<String, String> replacements(ConfigNode config, Path root) {
        Optional<String> train = imageNetIn(config, "data.train");
        if (train.isEmpty() || isImageNet(root.resolve("train"))) {
            return Map.of();
        }
        return LabeledFolder.find(root)
                .filter(found -> found.targets() == TargetKind.CLASSES)
                .map(found -> replacements(config, found))
                .orElse(Map.of());
    }

    private static Map<String, String> replacements(ConfigNode config, LabeledFolder found) {
        return found.parts().keySet().stream()
                .filter(part -> imageNetIn(config, "data." + part).isPresent())
                .collect(
                        ImmutableMap.toImmutableMap(
                                part -> imageNetIn(config, "data." + part).orElseThrow(),
                                part -> yaml(found.parts().get(part))));
    }

    /** Returns the path of ImageNet in a data set or the data sets that it wraps. */
    private static Optional<String> imageNetIn(ConfigNode config, String path) {
        ConfigNode node = config;
        for (String step : ConfigNode.steps(path)) {
            Optional<ConfigNode> next = node.child(step);
            if (next.isEmpty()) {
                return Optional.empty();
            }
            node = next.get();
        }
        boolean isImageNet =
                node.child("type")
                        .filter(ConfigNode.Scalar.class::isInstance)
                        .map(type -> ((ConfigNode.Scalar) type).value())
                        .filter(IMAGENET::equals)
                        .isPresent();
        return isImageNet ? Optional.of(path) : imageNetIn(config, path + ".dataset");
    }

    private static boolean isImageNet(Path train) {
        if (!Files.isDirectory(train)) {
            return false;
        }
        try (Stream<Path> all = Files.list(train)) {
            List<String> folders =
                    all.filter(Files::isDirectory)
                            .map(folder -> folder.getFileName().toString())
                            .filter(name -> !name.startsWith("."))
                            .toList();
            return !folders.isEmpty() && ImageNet.FOLDERS.containsAll(folders);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", train, e.getMessage());
        }
    }

    private static String yaml(Dataset.Config part) {
        return ConfigWriter.inline(Configs.unbindChanges((Record) part));
    }
}

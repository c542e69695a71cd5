package dev.saccade.datasets.classification;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.check.Findings;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * ImageNet-1K: a folder per class with its WordNet id, such as {@code train/n01440764}. Class names
 * are torchvision's (BSD-3-Clause), in the order of published checkpoints.
 */
public final class ImageNet {

    private static final ImmutableList<String> LINES =
            ResourceLines.read(ImageNet.class, "imagenet.csv").stream()
                    .skip(1)
                    .collect(ImmutableList.toImmutableList());

    /** WordNet ids in the order of the labels, which is alphabetical. */
    public static final ImmutableList<String> FOLDERS =
            LINES.stream()
                    .map(line -> line.substring(0, line.indexOf(',')))
                    .collect(ImmutableList.toImmutableList());

    /** The class names in the order of the labels, such as {@code tench}. */
    public static final ImmutableList<String> NAMES =
            LINES.stream()
                    .map(line -> line.substring(line.indexOf(',') + 1))
                    .collect(ImmutableList.toImmutableList());

    private ImageNet() {}

    /**
     * Settings of ImageNet-1K.
     *
     * @param folder contains the 1,000 class folders; by default the root of the data
     */
    @Component("imagenet")
    public record Config(@Default(".") String folder) implements Dataset.Config {

        @Override
        public Dataset open(Path root) {
            Findings findings = new Findings();
            Optional<ImageFolderDataset> dataset = read(root, findings);
            findings.problems().throwIfAny(root.resolve(folder).toString());
            return dataset.orElseThrow();
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            Findings findings = new Findings();
            Optional<ImageFolderDataset> dataset = read(root, findings);
            return findings.hasErrors()
                    ? findings.report(new ImageLabelStatistics(Map.of()))
                    : DatasetCheck.run(dataset.orElseThrow(), options)
                            .withWarnings(findings.kept());
        }

        @Override
        public List<String> knownClasses() {
            return NAMES;
        }

        private Optional<ImageFolderDataset> read(Path root, Findings findings) {
            DataFolder.requireRoot(root, folder);
            Path parent = root.resolve(folder);
            long missing =
                    FOLDERS.stream()
                            .filter(name -> !Files.isDirectory(parent.resolve(name)))
                            .count();
            if (missing > 0 && Files.isDirectory(parent)) {
                findings.error(
                        parent.toString(),
                        "lacks %d of ImageNet's 1,000 class folders, such as n01440764; for other"
                                + " classes, set the type of the data set to image_folder",
                        missing);
                return Optional.empty();
            }
            return Optional.of(
                    new ImageFolderDataset.Config(folder, FOLDERS)
                            .read(root, findings)
                            .withClasses(NAMES));
        }
    }
}

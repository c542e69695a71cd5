package dev.saccade.tune;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.ClassBalancedDataset;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.List;

/** Configs that train on some folds of {@code data.train} and evaluate on the other. */
record FoldConfigs(int folds, long seed) {

    /** Above this number of images, one fold suffices to compare configs. */
    private static final int SMALL_DATASET = 500;

    private static final int SMALL_FOLDS = 3;
    private static final int FOLDS = 5;
    private static final int MAX_FOLD_IMAGES = 1000;

    /** Returns the default number of folds: 3 for few images, else folds of at most 1000 images. */
    static int defaultFolds(int images) {
        return isSmall(images)
                ? SMALL_FOLDS
                : Math.max(FOLDS, (images + MAX_FOLD_IMAGES - 1) / MAX_FOLD_IMAGES);
    }

    /** Rejects a number of folds that is below 2 or above the number of images. */
    static void require(int folds, int images) {
        if (folds < 2 || folds > images) {
            throw SaccadeException.user(
                            "folds: got %d, expected 2 to %d, the number of training images",
                            folds, images)
                    .withSettings("folds");
        }
    }

    static boolean isSmall(int images) {
        return images < SMALL_DATASET;
    }

    /** Returns the data set of {@code data.train} without repeated images. */
    static Dataset.Config images(RunConfig config) {
        Dataset.Config train = config.data().requireTrain();
        return train instanceof ClassBalancedDataset.Config balanced ? balanced.dataset() : train;
    }

    /** Returns a config that holds out a fold. */
    RunConfig holdOut(RunConfig config, int index) {
        Dataset.Config train = config.data().requireTrain();
        String images = json(images(config));
        String part = fold(images, index, "train");
        if (train instanceof ClassBalancedDataset.Config balanced) {
            part =
                    Text.format(
                            "{type: class_balanced, oversample_threshold: %s,"
                                    + " filter_empty_gt: %s, dataset: %s}",
                            balanced.oversampleThreshold(), balanced.filterEmptyGt(), part);
        }
        return forJob(config, "data.train=" + part, "data.val=" + fold(images, index, "val"));
    }

    /**
     * Returns a config without early stopping that saves its state ten times. Evaluation is a part
     * of the job.
     */
    static RunConfig forJob(RunConfig config, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.add("data.workers=1");
        all.add("evaluation.patience=null");
        all.add("checkpoint.keep_every=null");
        config.iterations()
                .ifPresent(
                        n -> all.add("checkpoint.every={iterations: " + Math.max(1, n / 10) + "}"));
        return config.with(all.toArray(String[]::new));
    }

    private String fold(String images, int index, String part) {
        return Text.format(
                "{type: fold, folds: %d, index: %d, part: %s, seed: %d, dataset: %s}",
                folds, index, part, seed, images);
    }

    private static String json(Dataset.Config dataset) {
        return ConfigWriter.valuesAsJson(Configs.unbind((Record) dataset)).strip();
    }
}

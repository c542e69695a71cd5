package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.parts.Targets;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Finds every fault of a data set in the layout of ADE20K and counts the pixels of its classes. */
final class Ade20kCheck {

    /**
     * What was found in a pair of files.
     *
     * @param counts [classes + 1] pixels of each class, ignored ones last; none if unreadable
     */
    private record Found(List<Finding> findings, Optional<long[]> counts) {}

    private final CheckOptions options;
    private final LabelCode code;

    private Ade20kCheck(CheckOptions options, LabelCode code) {
        this.options = options;
        this.code = code;
    }

    /** Returns what the data set holds and all that is wrong with it; nothing is thrown for it. */
    static DatasetReport run(Ade20kDataset.Config config, Path root, CheckOptions options) {
        Findings findings = new Findings();
        String folder = root.resolve(config.annotations()).toString();
        if (options.targets() != Targets.LABEL_MAPS) {
            findings.accept(
                    Finding.error(
                            folder,
                            "",
                            "pixels are labelled, but the model learns to find objects"));
        }
        List<String> names = List.of();
        PixelStatistics.Builder statistics = new PixelStatistics.Builder(names);
        try {
            List<PairedFiles.Pair> pairs = config.pairs(root, findings);
            names = config.names(root);
            statistics = new PixelStatistics.Builder(names);
            Ade20kCheck check = new Ade20kCheck(options, config.code(names));
            check.run(pairs, findings, statistics);
        } catch (SaccadeException e) {
            findings.accept(Finding.error(folder, e));
        }
        PixelStatistics held = statistics.build();
        held.fault(folder).ifPresent(findings);
        return findings.report(held);
    }

    private void run(
            List<PairedFiles.Pair> pairs, Findings findings, PixelStatistics.Builder statistics) {
        List<Callable<Found>> checks = new ArrayList<>();
        pairs.forEach(pair -> checks.add(() -> check(pair)));
        try (Workers workers = new Workers("dataset-check", options.threads())) {
            workers.run(
                    checks,
                    found -> {
                        found.findings().forEach(findings);
                        found.counts().ifPresent(statistics::add);
                        options.onImage().run();
                    });
        }
    }

    private Found check(PairedFiles.Pair pair) {
        List<Finding> findings = new ArrayList<>();
        String file = pair.labels().toString();
        Optional<ImageHeader> photo = ImageCheck.run(pair.photo(), options.decode(), findings::add);
        try {
            IndexPng png = IndexPng.read(pair.labels());
            photo.filter(header -> !header.size().equals(png.size()))
                    .map(header -> Ade20kDataset.sizeFault(pair, png.size(), header))
                    .ifPresent(fault -> findings.add(Finding.error(file, "", fault)));
            code.fault(png).ifPresent(fault -> findings.add(Finding.error(file, "", fault)));
            long[] counts = code.count(png);
            PixelStatistics.warning(file, "", counts, png.size().area()).ifPresent(findings::add);
            return new Found(findings, Optional.of(counts));
        } catch (SaccadeException e) {
            findings.add(Finding.error(file, e));
            return new Found(findings, Optional.empty());
        }
    }
}

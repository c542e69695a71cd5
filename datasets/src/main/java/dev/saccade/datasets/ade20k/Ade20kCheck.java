package dev.saccade.datasets.ade20k;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.labels.LabelCode;
import dev.saccade.datasets.labels.LabelFile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Finds every fault of a data set in the layout of ADE20K and counts the pixels of its classes. */
final class Ade20kCheck {

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
        if (options.targets() != TargetKind.LABEL_MAPS) {
            findings.accept(
                    Finding.error(
                            folder,
                            "",
                            "pixels are labeled, but the model learns to find objects"));
        }
        List<String> names = List.of();
        List<Callable<LabelCheck.Found>> checks = new ArrayList<>();
        try {
            List<LabelFile> pairs = config.pairs(root, findings);
            names = config.names(root);
            Ade20kCheck check = new Ade20kCheck(options, config.code(names));
            pairs.forEach(pair -> checks.add(() -> check.check(pair)));
        } catch (SaccadeException e) {
            findings.accept(Finding.error(folder, e));
        }
        return findings.report(LabelCheck.run(folder, names, checks, options, findings));
    }

    private LabelCheck.Found check(LabelFile pair) {
        List<Finding> findings = new ArrayList<>();
        Optional<ImageHeader> photo = ImageCheck.run(pair.photo(), options, findings::add);
        options.files().labelMap(pair.labels());
        if (options.depth() == Depth.LABELS) {
            return new LabelCheck.Found(findings, Optional.empty());
        }
        LabelCheck.Found labels = pair.check(code, photo.map(ImageHeader::size));
        findings.addAll(labels.findings());
        return new LabelCheck.Found(findings, labels.counts());
    }
}

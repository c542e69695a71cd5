package dev.saccade.datasets.ade20k;

import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.labels.LabelEncoding;
import dev.saccade.datasets.labels.LabelFile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks a data set in the layout of ADE20K and counts the pixels of its classes. */
final class Ade20kCheck {

    private Ade20kCheck() {}

    static DatasetReport run(Ade20kDataset.Config config, Path root, CheckOptions options) {
        Findings findings = new Findings();
        String folder = root.resolve(config.annotations()).toString();
        if (options.targets() != TargetKind.LABEL_MAPS) {
            findings.error(
                    folder,
                    "has label maps, but the model %s; train a segmenter, or use another data set",
                    options.targets() == TargetKind.CLASSES
                            ? "classifies images"
                            : "detects objects");
        }
        List<String> names = new ArrayList<>();
        List<LabelFile> pairs = new ArrayList<>();
        findings.attempt(
                folder,
                () -> {
                    List<LabelFile> found = config.pairs(root, findings);
                    names.addAll(config.names(root));
                    config.code(names);
                    pairs.addAll(found);
                });
        return findings.report(
                LabelCheck.run(
                        folder,
                        names,
                        pairs,
                        pair -> check(pair, config.code(names), options),
                        options,
                        findings));
    }

    private static LabelCheck.Result check(
            LabelFile pair, LabelEncoding code, CheckOptions options) {
        List<Finding> findings = new ArrayList<>();
        Optional<ImageHeader> header = ImageCheck.run(pair.image(), options, findings::add);
        options.files().labelMap(pair.labels());
        if (options.depth() == Depth.LABELS) {
            return new LabelCheck.Result(findings, Optional.empty());
        }
        LabelCheck.Result labels = pair.check(code, header.map(ImageHeader::size));
        findings.addAll(labels.findings());
        return new LabelCheck.Result(findings, labels.counts());
    }
}

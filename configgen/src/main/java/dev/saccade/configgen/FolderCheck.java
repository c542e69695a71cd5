package dev.saccade.configgen;

import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.train.data.DataReports;

import java.util.Optional;

/** Checks a folder as a run of the config that {@code new} would write for it. */
public final class FolderCheck {

    private FolderCheck() {}

    /**
     * Returns what is in a folder and what is wrong with it.
     *
     * @param contents of the training set, if it can be opened
     * @param onImage called after each image
     */
    public static DataReports run(
            LabeledFolder folder,
            Optional<Contents> contents,
            Machine machine,
            Depth depth,
            Runnable onImage) {
        TargetKind unknown = folder.holdsLabelMaps() ? TargetKind.LABEL_MAPS : TargetKind.BOXES;
        CheckOptions options =
                new CheckOptions(
                        depth,
                        contents.map(Contents::targets).orElse(unknown),
                        machine.cores(),
                        onImage);
        return DataReports.check(
                folder.parts(),
                folder.root(),
                contents.map(held -> options.with(Proposal.transforms(held, machine)))
                        .orElse(options));
    }
}

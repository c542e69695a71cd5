package dev.saccade.datasets.check;

import com.google.common.collect.SetMultimap;

import dev.saccade.datasets.CheckedFiles;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;

/** Compares the files of the splits of a data set, such as {@code train} and {@code val}. */
public final class SplitComparison {

    private final DuplicateImages copies = new DuplicateImages();
    private final Palettes palettes = new Palettes();

    public CheckedFiles split(String name) {
        return split(name, /* lacksLabels= */ false);
    }

    /**
     * Returns the receiver of the files of a split.
     *
     * @param lacksLabels whether copies of an image may have labels of different classes
     */
    public CheckedFiles split(String name, boolean lacksLabels) {
        if (lacksLabels) {
            copies.allowWithin(name);
        }
        return new CheckedFiles() {
            @Override
            public void image(OptionalLong id, Path file, OptionalLong pixels) {
                copies.add(name, id, file, pixels);
            }

            @Override
            public void labelMap(Path file) {
                palettes.add(name, file);
            }
        };
    }

    /** Adds warnings about duplicate images and contradicting palettes to the reports. */
    public <P> void complete(Map<P, DatasetReport> reports, Function<P, String> name) {
        SetMultimap<String, Finding> findings = copies.findings();
        palettes.findings().forEach(findings::put);
        reports.replaceAll(
                (part, report) -> report.withWarnings(List.copyOf(findings.get(name.apply(part)))));
    }
}

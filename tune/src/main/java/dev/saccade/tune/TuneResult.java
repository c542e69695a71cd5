package dev.saccade.tune;

import java.nio.file.Path;
import java.util.List;

/**
 * Result of a search.
 *
 * @param trial number of the selected trial; 0 for the base config
 * @param config the file {@code best.yaml}
 * @param report the file {@code report.html}
 * @param conclusions sentences about the selected config and the significance of its gain
 */
public record TuneResult(int trial, Path config, Path report, List<String> conclusions) {

    public TuneResult {
        conclusions = List.copyOf(conclusions);
    }
}

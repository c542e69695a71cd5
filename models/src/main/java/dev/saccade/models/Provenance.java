package dev.saccade.models;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Version;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Origin of trained weights, stored in checkpoints and exports. Contains no dates, paths or host
 * names, so equal runs write equal files.
 *
 * @param software versions that trained the weights, oldest first; more than one if the run was
 *     resumed with another version
 * @param initFrom initial weights; empty if they were random
 * @param iteration number of finished optimizer steps
 * @param metrics metrics of these weights on the validation set; empty if they were not evaluated
 * @param config settings that affect training, by dotted key
 */
public record Provenance(
        List<String> software,
        Optional<InitialWeights> initFrom,
        TrainingData data,
        long seed,
        long iteration,
        Map<String, Double> metrics,
        Map<String, String> config) {

    /** Key in the metadata of checkpoints and exports. */
    public static final String KEY = "saccade.provenance";

    private static final String UNKNOWN =
            "  provenance     unknown; the file was written without it";

    /** Initial weights; {@code name} is a file name or the name of published weights. */
    public record InitialWeights(String name, String sha256) {}

    /**
     * Training set.
     *
     * @param name folder name, if known
     * @param fingerprint SHA-256 of class names, image names and sizes, and annotations
     */
    public record TrainingData(Optional<String> name, int images, String fingerprint) {}

    public Provenance {
        software = ImmutableList.copyOf(software);
        metrics = new TreeMap<>(metrics);
        config = new TreeMap<>(config);
    }

    /** Returns the versions of Saccade and of the loaded libtorch. */
    public static String thisSoftware() {
        return Text.format(
                "saccade %s%s, libtorch %s",
                Version.saccade(),
                Version.commit().map(commit -> " (commit " + commit + ")").orElse(""),
                Libtorch.build());
    }

    /** Returns the provenance of a later state of the same run. */
    public Provenance at(long step, Map<String, Double> evaluated) {
        return new Provenance(software, initFrom, data, seed, step, evaluated, config);
    }

    /** Returns this provenance as the continuation of a run from an earlier checkpoint. */
    public Provenance continuing(Provenance earlier) {
        List<String> both =
                ImmutableSet.<String>builder()
                        .addAll(earlier.software)
                        .addAll(software)
                        .build()
                        .asList();
        return new Provenance(both, earlier.initFrom, data, seed, iteration, metrics, config);
    }

    public Map<String, String> toMetadata() {
        return Map.of(KEY, ConfigWriter.yaml(Configs.unbind(this)));
    }

    /**
     * Reads the provenance in the metadata of a file; empty if the file has none.
     *
     * @throws SaccadeException of kind user, if it is damaged
     */
    public static Optional<Provenance> find(Map<String, String> metadata, String source) {
        return Optional.ofNullable(metadata.get(KEY))
                .map(text -> ConfigFile.parse(text, source + ", provenance"))
                .map(node -> Configs.bind(node, Provenance.class));
    }

    /** Describes the provenance as indented lines, also if it is unknown. */
    public static String describe(Optional<Provenance> provenance) {
        return provenance.map(Provenance::toString).orElse(UNKNOWN);
    }

    /** Returns the metrics as text, such as {@code AP 0.4123}. */
    String metricsText() {
        return Joiner.on(", ")
                .join(
                        metrics.entrySet().stream()
                                .map(each -> Text.format("%s %.4f", each.getKey(), each.getValue()))
                                .iterator());
    }

    /** Returns the initial weights as text. */
    String initialText() {
        return initFrom.map(from -> from.name + ", SHA-256 " + from.sha256).orElse("random");
    }

    /** Returns the training set as text. */
    String dataText() {
        return Text.format(
                "%s%s, fingerprint %s",
                data.name.map(name -> name + ", ").orElse(""),
                Count.of(data.images, "image"),
                data.fingerprint);
    }

    @Override
    public String toString() {
        return Printable.format(
                "  trained with   %s%n"
                        + "  init_from      %s%n"
                        + "  data           %s%n"
                        + "  seed           %d%n"
                        + "  steps          %d%n"
                        + "  metrics        %s",
                String.join("; ", software),
                initialText(),
                dataText(),
                seed,
                iteration,
                metrics.isEmpty() ? "not evaluated" : metricsText());
    }
}

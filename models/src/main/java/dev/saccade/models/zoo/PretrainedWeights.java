package dev.saccade.models.zoo;

import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Default;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NamePattern;
import dev.saccade.core.conversion.PositionTable;

import java.net.URI;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Published weights listed in {@code configs/weights.yaml}.
 *
 * <pre>{@code
 * PretrainedWeights weights = PretrainedWeights.named("swin_tiny");
 * Weights.initialize(weights.open(weights.fetch((bytes, total) -> {})), model);
 * }</pre>
 *
 * <p>Files are cached in {@code $SACCADE_CACHE/weights}, by default {@code saccade/weights} in
 * {@code $XDG_CACHE_HOME} or {@code ~/.cache}. {@code $SACCADE_WEIGHTS}, a folder or HTTP URL with
 * files of the same names, replaces the authors' hosts. The {@code SACCADE_*} variables can also be
 * JVM system properties. Only {@link #fetch} downloads.
 */
public final class PretrainedWeights {

    /** Receives the progress of a download. */
    @FunctionalInterface
    public interface Progress {

        /** Reports downloaded bytes, including earlier attempts; {@code total} is -1 if unknown. */
        void fetched(long bytes, long total);
    }

    /** Weights published on one page. */
    private record Publisher(
            String title, Optional<String> license, String source, Map<String, Entry> weights) {}

    private record Entry(
            Optional<String> backbone,
            @Default("[]") List<String> settings,
            Optional<String> recipe,
            Optional<String> url,
            Optional<String> page,
            Optional<String> file,
            @Default("false") boolean ema,
            Optional<Double> mebibytes,
            Optional<String> sha256) {}

    /** Content of {@code weights.yaml}. */
    private record Table(Map<String, Publisher> publishers) {}

    /** Loaded on first use. */
    private static final class Packaged {

        static final ImmutableMap<String, PretrainedWeights> WEIGHTS = read();
        static final ImmutableMap<String, Backbone.Config> BACKBONES = backbones();

        private static ImmutableMap<String, PretrainedWeights> read() {
            ImmutableMap.Builder<String, PretrainedWeights> all = ImmutableMap.builder();
            Table table = Configs.bind(ConfigFile.packaged("weights.yaml"), Table.class);
            for (Publisher publisher : table.publishers().values()) {
                publisher
                        .weights()
                        .forEach(
                                (name, w) ->
                                        all.put(name, new PretrainedWeights(name, publisher, w)));
            }
            return all.buildOrThrow();
        }

        private static ImmutableMap<String, Backbone.Config> backbones() {
            ImmutableMap.Builder<String, Backbone.Config> all = ImmutableMap.builder();
            Configs.registered(Backbone.Config.class)
                    .values()
                    .forEach(family -> all.putAll(Configs.<Backbone.Config>variants(family)));
            return all.buildOrThrow();
        }
    }

    private final String name;
    private final Publisher publisher;
    private final Entry entry;

    private PretrainedWeights(String name, Publisher publisher, Entry entry) {
        this.name = name;
        this.publisher = publisher;
        this.entry = entry;
    }

    /** Returns all weights, grouped by publisher. */
    public static Collection<PretrainedWeights> all() {
        return Packaged.WEIGHTS.values();
    }

    /** Returns weights by name, such as {@code swin_tiny}; throws if the name is unknown. */
    public static PretrainedWeights named(String name) {
        PretrainedWeights weights = Packaged.WEIGHTS.get(name);
        if (weights == null) {
            throw SaccadeException.user(
                    "unknown pretrained weights %s%s",
                    name, Suggestions.suggestion(name, Packaged.WEIGHTS.keySet()));
        }
        return weights;
    }

    /**
     * Returns all weights that fit a backbone, including whole models; {@link #find} returns the
     * file if it is downloaded.
     */
    public static List<PretrainedWeights> forBackbone(Backbone.Config backbone) {
        Map<String, Shape> shapes = shapes(backbone);
        return all().stream().filter(weights -> weights.fits(backbone, shapes)).toList();
    }

    /**
     * Returns whether these weights fit a backbone. Ignores position tables, which are
     * interpolated, and parameters that checkpoints may lack, such as output norms.
     */
    public boolean fits(Backbone.Config backbone) {
        return fits(backbone, shapes(backbone));
    }

    private boolean fits(Backbone.Config other, Map<String, Shape> shapes) {
        Backbone.Config own = backbone();
        return own.getClass() == other.getClass() && shapes(own).equals(shapes);
    }

    private static Map<String, Shape> shapes(Backbone.Config config) {
        CheckpointRules rules = config.checkpointRules();
        List<NamePattern> free =
                Stream.concat(
                                rules.positions().stream().map(PositionTable::name),
                                rules.missing().stream())
                        .toList();
        Map<String, Parameter> parameters =
                Maps.filterKeys(
                        config.build().namedParameters(),
                        name -> free.stream().noneMatch(each -> each.matches(name)));
        return ImmutableMap.copyOf(Maps.transformValues(parameters, Parameter::getShape));
    }

    /** Returns the name for {@code init_from}. */
    public String name() {
        return name;
    }

    /** Returns a title that names the publisher and the training data. */
    public String title() {
        return publisher.title();
    }

    /** Returns the SPDX license identifier, if there is one. */
    public Optional<String> license() {
        return publisher.license();
    }

    /** Returns the page that states the URL and license. */
    public String source() {
        return publisher.source();
    }

    /** Returns the backbone in these weights. */
    public Backbone.Config backbone() {
        return entry.backbone()
                .map(Packaged.BACKBONES::get)
                .map(config -> Configs.with(config, entry.settings().toArray(String[]::new)))
                .orElseGet(() -> Zoo.packaged().recipe(recipe().orElseThrow()).model().backbone());
    }

    /** Returns the recipe of a whole model; empty for backbone weights. */
    public Optional<String> recipe() {
        return entry.recipe();
    }

    /** Returns the recipe, or the backbone and its settings, as text. */
    public String modelName() {
        return recipe().orElseGet(
                        () ->
                                Stream.concat(entry.backbone().stream(), entry.settings().stream())
                                        .collect(Collectors.joining(" ")));
    }

    /** Returns the file name. */
    public String file() {
        return entry.file()
                .orElseGet(() -> Path.of(url().orElseThrow().getPath()).getFileName().toString());
    }

    /** Returns the URL; empty if the file cannot be downloaded automatically. */
    public Optional<URI> url() {
        return entry.url().map(URI::create);
    }

    /** Returns the page for manual download; empty if not needed. */
    public Optional<String> page() {
        return entry.page();
    }

    /** Returns the published size, rounded; empty if unknown. */
    public Optional<Double> mebibytes() {
        return entry.mebibytes();
    }

    /** Returns the first hexadecimal digits of the SHA-256; empty if unknown. */
    public Optional<String> sha256() {
        return entry.sha256();
    }

    /** Returns the file in the cache or in the folder {@code SACCADE_WEIGHTS}, if it exists. */
    public Optional<Path> find() {
        return WeightsCache.forUser().find(file());
    }

    /** Returns the file; throws with download instructions if it is missing. */
    public Path require() {
        return find().orElseThrow(() -> SaccadeException.user("%s", missingMessage()));
    }

    /** Returns whether to use the averaged weights in the file, as the authors do. */
    public boolean ema() {
        return entry.ema();
    }

    /** Opens a file of these weights; uses the averaged weights if {@link #ema}. */
    public Checkpoint open(Path file) {
        return ema() ? TorchFile.readAveraged(file) : Checkpoints.open(file);
    }

    /** Returns the SHA-256 of a file; throws if it differs from the published one. */
    public String checksum(Path file) {
        return new WeightsCheck(this).requireChecksum(file);
    }

    private String missingMessage() {
        if (url().isPresent()) {
            return Text.format(
                    "%s is not downloaded; download it with weights fetch %s or"
                            + " PretrainedWeights.fetch (%s)",
                    name, name, sizeAndLicense());
        }
        Path target = WeightsCache.forUser().file(file());
        return page().isPresent()
                ? Text.format(
                        "%s is missing and cannot be downloaded automatically; download it from"
                                + " %s and save it as %s",
                        name, page().get(), target)
                : Text.format(
                        "%s was never published; train these weights and save them as %s",
                        name, target);
    }

    private String sizeAndLicense() {
        String size =
                mebibytes().map(mib -> Text.format("%.1f MiB", mib)).orElse("size not published");
        return size + license().map(spdx -> ", " + spdx).orElse("");
    }

    /**
     * Returns the file; downloads it from {@code SACCADE_WEIGHTS} or its authors if it is not
     * cached.
     *
     * @throws SaccadeException of kind user with instructions, if the file has no URL; of kind I/O,
     *     if the download fails; another call resumes it
     */
    public Path fetch(Progress progress) {
        return fetch(WeightsCache.mirror(), progress);
    }

    /**
     * Returns the file; if not cached, gets it from {@code mirror} (folder or URL) or its authors.
     */
    public Path fetch(Optional<String> mirror, Progress progress) {
        return WeightsCache.forUser().fetch(this, mirror, progress);
    }
}

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
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NamePattern;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.Default;

import java.net.URI;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Weights that their authors have published, by name, as {@code configs/weights.yaml} lists them.
 *
 * <pre>{@code
 * PretrainedWeights weights = PretrainedWeights.named("swin_tiny");
 * Weights.initialize(weights.open(weights.fetch((bytes, total) -> {})), model);
 * }</pre>
 *
 * <p>Files are kept in {@code weights} below {@code $SACCADE_CACHE}, else below {@code saccade} in
 * the user's folder of caches. {@code $SACCADE_WEIGHTS}, a folder or an address with {@code http},
 * is where they are looked for in place of the authors' hosts: files of the same names. Both may be
 * set as properties of the JVM as well. Nothing is fetched but by {@link #fetch}.
 */
public final class PretrainedWeights {

    /** Is told how much of a file has come. */
    @FunctionalInterface
    public interface Progress {

        /**
         * Takes note of what has come.
         *
         * @param bytes so far, those of an earlier attempt included
         * @param total of the file; -1 where that is not known
         */
        void fetched(long bytes, long total);
    }

    /** What the table says of all that somebody has published on one page. */
    private record Publisher(
            String title, Optional<String> license, String source, Map<String, Entry> weights) {}

    /** What the table says of one file. */
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

    /** What {@code weights.yaml} holds. */
    private record Table(Map<String, Publisher> publishers) {}

    /** Read when it is first asked for. */
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

    /** Returns all that is listed, by publisher. */
    public static Collection<PretrainedWeights> all() {
        return Packaged.WEIGHTS.values();
    }

    /**
     * Returns weights by name.
     *
     * @param name such as {@code swin_tiny}
     * @throws SaccadeException of kind user that names the nearest, if there are none
     */
    public static PretrainedWeights named(String name) {
        PretrainedWeights weights = Packaged.WEIGHTS.get(name);
        if (weights == null) {
            throw SaccadeException.user(
                    "no published weights have the name %s%s",
                    name, Suggestions.suggestion(name, Packaged.WEIGHTS.keySet()));
        }
        return weights;
    }

    /**
     * Returns the weights that fit a backbone, those of whole models included, in the order of the
     * list; {@link #find} tells which of them are here.
     */
    public static List<PretrainedWeights> fitting(Backbone.Config backbone) {
        Map<String, Shape> shapes = shapes(backbone);
        return all().stream().filter(weights -> weights.fit(backbone, shapes)).toList();
    }

    /**
     * Returns whether these are weights of a backbone: of each of its parameters but those that no
     * classifier has. Tables of positions may be of other sizes, they are interpolated.
     */
    public boolean fit(Backbone.Config backbone) {
        return fit(backbone, shapes(backbone));
    }

    private boolean fit(Backbone.Config other, Map<String, Shape> shapes) {
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

    /** Returns the name that {@code init_from} takes. */
    public String name() {
        return name;
    }

    /** Returns who has published them and what they have learned from, in a few words. */
    public String title() {
        return publisher.title();
    }

    /** Returns the license as SPDX writes it; none where nothing is published. */
    public Optional<String> license() {
        return publisher.license();
    }

    /** Returns the page that the address and the license were read off. */
    public String source() {
        return publisher.source();
    }

    /** Returns the backbone that these weights are of, or are of as well. */
    public Backbone.Config backbone() {
        return entry.backbone()
                .map(Packaged.BACKBONES::get)
                .map(config -> Configs.with(config, entry.settings().toArray(String[]::new)))
                .orElseGet(() -> Zoo.packaged().recipe(recipe().orElseThrow()).model().backbone());
    }

    /** Returns the recipe whose whole model these weights are of; none if of a backbone alone. */
    public Optional<String> recipe() {
        return entry.recipe();
    }

    /** Returns what these weights are of in words: a recipe, or a backbone and its settings. */
    public String of() {
        return recipe().orElseGet(
                        () ->
                                Stream.concat(entry.backbone().stream(), entry.settings().stream())
                                        .collect(Collectors.joining(" ")));
    }

    /** Returns the name of the file. */
    public String file() {
        return entry.file()
                .orElseGet(() -> Path.of(url().orElseThrow().getPath()).getFileName().toString());
    }

    /** Returns the address of the file; none if it cannot be fetched. */
    public Optional<URI> url() {
        return entry.url().map(URI::create);
    }

    /** Returns the page on which somebody gets the file by hand; none if it can be fetched. */
    public Optional<String> page() {
        return entry.page();
    }

    /** Returns the published size, rounded; none where none is published. */
    public Optional<Double> mebibytes() {
        return entry.mebibytes();
    }

    /**
     * Returns the beginning of the checksum in hexadecimal digits; none where none is published.
     */
    public Optional<String> sha256() {
        return entry.sha256();
    }

    /**
     * Returns the file, if it is in the cache or in the folder that {@code SACCADE_WEIGHTS} names.
     */
    public Optional<Path> find() {
        return WeightsCache.here().find(file());
    }

    /**
     * Returns the file.
     *
     * @throws SaccadeException of kind user that says how to get it, if it is not here
     */
    public Path require() {
        return find().orElseThrow(() -> SaccadeException.user("%s", absence()));
    }

    /** Returns whether the authors evaluate averaged weights, which the file has beside others. */
    public boolean ema() {
        return entry.ema();
    }

    /**
     * Opens the file of these weights: the averaged weights if {@link #ema}.
     *
     * @throws SaccadeException of kind user, if the file is not a checkpoint or has no averaged
     *     weights
     */
    public Checkpoint open(Path file) {
        return ema() ? TorchFile.readAveraged(file) : Checkpoints.open(file);
    }

    /**
     * Returns the SHA-256 of a file that is to be these weights.
     *
     * @throws SaccadeException of kind user, if another one is published
     */
    public String checksum(Path file) {
        return new WeightsCheck(this).requireChecksum(file);
    }

    private String absence() {
        if (url().isPresent()) {
            return Text.format(
                    "%s is not downloaded; fetch it (PretrainedWeights.fetch, or weights fetch %s;"
                            + " %s)",
                    name, name, sizeAndLicense());
        }
        Path place = WeightsCache.here().file(file());
        return page().isPresent()
                ? Text.format(
                        "%s is not here, and is given out by hand only: get it from %s and save it"
                                + " as %s",
                        name, page().get(), place)
                : Text.format(
                        "%s has not been published; put what you have trained there as %s",
                        name, place);
    }

    private String sizeAndLicense() {
        String size =
                mebibytes().map(mib -> Text.format("%.1f MiB", mib)).orElse("size not published");
        return size + license().map(spdx -> ", " + spdx).orElse("");
    }

    /**
     * Returns the file, which is fetched if it is not in the cache, from where {@code
     * SACCADE_WEIGHTS} says, else from its authors.
     *
     * @throws SaccadeException of kind user, if it cannot be fetched, and says how to get it; of
     *     kind I/O, if that fails, after which another call goes on where it broke
     */
    public Path fetch(Progress progress) {
        return fetch(WeightsCache.mirror(), progress);
    }

    /**
     * Returns the file, which is fetched if it is not in the cache.
     *
     * @param mirror a folder or an address with {@code http} that has it; its authors' if empty
     * @throws SaccadeException as {@link #fetch(Progress)} throws them
     */
    public Path fetch(Optional<String> mirror, Progress progress) {
        return WeightsCache.here().fetch(this, mirror, progress);
    }
}

package dev.saccade.cli;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Options for test-time augmentation and tiles. */
final class TtaOptions {

    private static final Pattern EDGES = Pattern.compile("([1-9]\\d{0,5})(?:x([1-9]\\d{0,5}))?");

    @Option(
            names = "--tta",
            paramLabel = "NAME",
            description =
                    "Use this test-time augmentation from data.tta of the config; none turns it"
                            + " off. Default: data.val_tta in eval, none elsewhere.")
    private Optional<String> named = Optional.empty();

    @Option(
            names = "--scales",
            paramLabel = "WxH",
            split = ",",
            description =
                    "Predict each image at these scales and merge the results, such as"
                            + " 1333x640,1333x800.")
    private List<String> scales = new ArrayList<>();

    @Option(
            names = "--flip",
            description = "Also predict horizontally flipped images and merge the results.")
    private boolean flip;

    @Option(
            names = "--tiles",
            paramLabel = "WxH",
            description =
                    "Split larger images into tiles of this size, such as 640x480 or"
                            + " 640 for a square, and merge objects cut by tile edges.")
    private Optional<String> tiles = Optional.empty();

    @Option(
            names = "--overlap",
            paramLabel = "FRACTION",
            description =
                    "Set the minimum overlap of neighboring tiles, as a fraction of"
                            + " their size. Default: 0.2.")
    private Optional<Double> overlap = Optional.empty();

    @Option(
            names = "--full-image",
            description =
                    "With --tiles, also predict the full image, for objects much"
                            + " larger than a tile.")
    private boolean whole;

    /** Loads a model, by default without test-time augmentation. */
    TrainedModel<?> load(Path checkpoint, ComputeOptions compute) {
        return load(checkpoint, compute, tta -> Optional.empty());
    }

    /** Loads a model; the default augmentation is {@code data.val_tta}. */
    TrainedModel<?> loadForEvaluation(Path checkpoint, ComputeOptions compute) {
        return load(checkpoint, compute, NamedAugmentations::valTta);
    }

    /** Returns a note if the evaluation uses {@code data.val_tta}. */
    Optional<String> note(NamedAugmentations tta) {
        return tta.valTta()
                .filter(name -> named.isEmpty() && scales.isEmpty() && !flip)
                .map(
                        name ->
                                "evaluated with test-time augmentation "
                                        + name
                                        + " (data.val_tta); --tta none turns it off");
    }

    private TrainedModel<?> load(
            Path checkpoint,
            ComputeOptions compute,
            Function<NamedAugmentations, Optional<String>> defaultName) {
        Optional<Tiles> inTiles = tiles();
        Optional<TestTimeAugmentation> unnamed = unnamed();
        TrainedModel<?> model =
                compute.applyTo(TrainedModel.load(checkpoint, compute.chooseDevice()));
        try {
            NamedAugmentations tta = model.spec().tta();
            Optional<TestTimeAugmentation> chosen =
                    unnamed.or(() -> named.or(() -> defaultName.apply(tta)).flatMap(tta::named));
            TrainedModel<?> augmented = chosen.<TrainedModel<?>>map(model::withTta).orElse(model);
            return inTiles.<TrainedModel<?>>map(augmented::withTiles).orElse(augmented);
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }

    /** Returns the augmentation set by {@code --scales} and {@code --flip}. */
    private Optional<TestTimeAugmentation> unnamed() {
        List<List<Integer>> edges = scales();
        if (edges.isEmpty() && !flip) {
            return Optional.empty();
        }
        if (named.isPresent()) {
            throw SaccadeException.user(
                    "got --tta and %s; expected one of them",
                    edges.isEmpty() ? "--flip" : "--scales");
        }
        try {
            return Optional.of(new TestTimeAugmentation(edges, flip));
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("--scales: %s", e.getMessage());
        }
    }

    private Optional<Tiles> tiles() {
        if (tiles.isEmpty() && (overlap.isPresent() || whole)) {
            throw SaccadeException.user(
                    "%s: needs --tiles, such as --tiles 640x640",
                    overlap.isPresent() ? "--overlap" : "--full-image");
        }
        Problems problems = new Problems();
        Optional<List<Integer>> size = tiles.flatMap(text -> edges(text, problems));
        Optional<Tiles> tiling = Optional.empty();
        try {
            tiling = size.map(edges -> new Tiles(edges, overlap.orElse(Tiles.OVERLAP), whole));
        } catch (Checks.InvalidSettings e) {
            problems.addAll(e.problems());
        }
        problems.throwIfAny("--tiles");
        return tiling;
    }

    private List<List<Integer>> scales() {
        Problems problems = new Problems();
        List<List<Integer>> pairs = new ArrayList<>();
        scales.forEach(scale -> edges(scale, problems).ifPresent(pairs::add));
        problems.throwIfAny("--scales");
        return pairs;
    }

    private static Optional<List<Integer>> edges(String text, Problems problems) {
        Optional<List<Integer>> edges = edges(text);
        if (edges.isEmpty()) {
            problems.add("got %s, expected width and height in pixels, such as 1333x800", text);
        }
        return edges;
    }

    /** Parses {@code WIDTHxHEIGHT}, or one number for a square; empty if malformed. */
    static Optional<List<Integer>> edges(String text) {
        Matcher edges = EDGES.matcher(text);
        if (!edges.matches()) {
            return Optional.empty();
        }
        String other = edges.group(2) == null ? edges.group(1) : edges.group(2);
        return Optional.of(List.of(Integer.valueOf(edges.group(1)), Integer.valueOf(other)));
    }
}

package dev.saccade.cli;

import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The options that say in what views and tiles a model looks at photographs. */
final class ViewOptions {

    private static final Pattern EDGES = Pattern.compile("([1-9]\\d{0,5})(?:x([1-9]\\d{0,5}))?");

    @Option(
            names = "--scales",
            paramLabel = "WxH",
            split = ",",
            description =
                    "Look at each photograph in all these sizes and merge what is found, such as"
                            + " 1333x640,1333x800; by default those of the checkpoint.")
    private List<String> scales = new ArrayList<>();

    @Option(
            names = "--flip",
            negatable = true,
            description =
                    "Look at each photograph in a mirror, too, and merge what is found; by default"
                            + " as the checkpoint says.")
    private Optional<Boolean> flip = Optional.empty();

    @Option(
            names = "--tiles",
            paramLabel = "WxH",
            description =
                    "Look at photographs that are larger than this in tiles of it, such as 640x480"
                            + " or 640 for a square, and join what is cut between them.")
    private Optional<String> tiles = Optional.empty();

    @Option(
            names = "--overlap",
            paramLabel = "SHARE",
            description =
                    "The least share of its width and height that a tile has in common with the"
                            + " next; 0.2 by default.")
    private Optional<Double> overlap = Optional.empty();

    @Option(
            names = "--whole",
            description =
                    "With --tiles, look at the whole photograph, too, in which detectors find what"
                            + " is much larger than a tile.")
    private boolean whole;

    /** Loads a model that looks at photographs as the options say, else as the checkpoint. */
    TrainedModel<?> load(Path checkpoint, ComputeOptions compute) {
        Optional<Tiles> inTiles = tiles();
        List<List<Integer>> wanted = scales();
        TrainedModel<?> model =
                compute.applyTo(TrainedModel.load(checkpoint, compute.chooseDevice()));
        TrainedModel<?> viewing = inViews(model, wanted);
        return inTiles.<TrainedModel<?>>map(viewing::withTiles).orElse(viewing);
    }

    private TrainedModel<?> inViews(TrainedModel<?> model, List<List<Integer>> wanted) {
        if (wanted.isEmpty() && flip.isEmpty()) {
            return model;
        }
        TestTimeAugmentation own =
                model.spec().views().orElseGet(() -> Configs.of(TestTimeAugmentation.class));
        try {
            return model.withViews(
                    new TestTimeAugmentation(
                            wanted.isEmpty() ? own.scales() : wanted, flip.orElse(own.flip())));
        } catch (IllegalArgumentException e) {
            model.close();
            throw SaccadeException.user("--scales: %s", e.getMessage());
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }

    private Optional<Tiles> tiles() {
        if (tiles.isEmpty() && (overlap.isPresent() || whole)) {
            throw SaccadeException.user(
                    "%s: means something with --tiles only, such as --tiles 640x640",
                    overlap.isPresent() ? "--overlap" : "--whole");
        }
        Problems problems = new Problems();
        Optional<List<Integer>> size = tiles.flatMap(text -> edges(text, problems));
        Optional<Tiles> wanted = Optional.empty();
        try {
            wanted = size.map(edges -> new Tiles(edges, overlap.orElse(Tiles.OVERLAP), whole));
        } catch (Checks.Refusal e) {
            e.problems().forEach(problem -> problems.add("%s", problem));
        }
        problems.throwIfAny("--tiles");
        return wanted;
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
            problems.add("got %s, expected two edges in pixels, such as 1333x800", text);
        }
        return edges;
    }

    /** Returns the width and height that a text such as 640x480 says, or 640 for a square. */
    static Optional<List<Integer>> edges(String text) {
        Matcher edges = EDGES.matcher(text);
        if (!edges.matches()) {
            return Optional.empty();
        }
        String other = edges.group(2) == null ? edges.group(1) : edges.group(2);
        return Optional.of(List.of(Integer.valueOf(edges.group(1)), Integer.valueOf(other)));
    }
}

package dev.saccade.cli;

import dev.saccade.config.Configs;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The options that say in what views a model looks at photographs. */
final class ViewOptions {

    private static final Pattern SCALE = Pattern.compile("([1-9]\\d{0,5})x([1-9]\\d{0,5})");

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

    /** Loads a model that looks at photographs as the options say, else as the checkpoint. */
    TrainedModel<?> load(Path checkpoint, ComputeOptions compute) {
        List<List<Integer>> wanted = scales();
        TrainedModel<?> model =
                compute.applyTo(TrainedModel.load(checkpoint, compute.chooseDevice()));
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

    private List<List<Integer>> scales() {
        Problems problems = new Problems();
        List<List<Integer>> pairs = new ArrayList<>();
        for (String scale : scales) {
            Matcher edges = SCALE.matcher(scale);
            if (edges.matches()) {
                pairs.add(
                        List.of(Integer.valueOf(edges.group(1)), Integer.valueOf(edges.group(2))));
            } else {
                problems.add("got %s, expected two edges in pixels, such as 1333x800", scale);
            }
        }
        problems.throwIfAny("--scales");
        return pairs;
    }
}

package dev.saccade.cli;

import com.google.common.base.Splitter;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.config.Origin;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.report.predictions.TrackingSettings;
import dev.saccade.video.tracking.LineCounter;
import dev.saccade.video.tracking.Tracker;
import dev.saccade.video.tracking.ZoneCounter;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Options that track objects in videos. */
final class TrackOptions {

    private static final String TRACKER = "--tracker";

    @Option(
            names = "--track",
            description =
                    "Track the objects of videos: write their identities, also to NAME_tracks.txt"
                            + " in MOT format.")
    private boolean track;

    @Option(
            names = TRACKER,
            paramLabel = "TYPE",
            description =
                    "Use this tracker: byte_track (default), oc_sort or a custom one, or a map with"
                            + " its settings, such as {type: oc_sort, max_age: 60}.")
    private Optional<String> tracker = Optional.empty();

    @Option(
            names = "--line",
            paramLabel = "X1,Y1,X2,Y2",
            description =
                    "Count tracked objects that cross this line, in pixels. Repeat it for more"
                            + " lines.")
    private List<String> lines = new ArrayList<>();

    @Option(
            names = "--zone",
            paramLabel = "X,Y,X,Y,...",
            description =
                    "Count tracked objects in this polygon, in pixels. Repeat it for more zones.")
    private List<String> zones = new ArrayList<>();

    /** Type of the setting {@code tracker}. */
    private record Selection(@Default("{type: byte_track}") Tracker.Config tracker) {}

    /** Rejects wrong values, and inputs that are no videos. */
    void require(List<Path> images, Optional<Path> list, ScoreOption score) {
        Problems problems = new Problems();
        if (!track && (tracker.isPresent() || !lines.isEmpty() || !zones.isEmpty())) {
            problems.add("--tracker, --line and --zone need --track; add it");
        }
        images.stream()
                .findFirst()
                .or(() -> list)
                .filter(input -> track)
                .ifPresent(
                        input ->
                                problems.add(
                                        "--track: %s is not a video; predict images and lists"
                                                + " without --track",
                                        input));
        if (track && score.isPerClass()) {
            problems.add("--track needs one minimum score; use --score S instead of per-class");
        }
        lines.forEach(line -> check(problems, "--line", line, LineCounter::of));
        zones.forEach(zone -> check(problems, "--zone", zone, ZoneCounter::of));
        problems.throwIfAny("predict");
        tracker();
    }

    private static void check(
            Problems problems, String option, String text, Consumer<double[]> counter) {
        try {
            counter.accept(numbers(text).toArray());
        } catch (SaccadeException e) {
            problems.add("%s %s: %s", option, text, e.getMessage());
        }
    }

    private static ImmutableDoubleArray numbers(String text) {
        ImmutableDoubleArray.Builder numbers = ImmutableDoubleArray.builder();
        for (String number : Splitter.on(',').trimResults().split(text)) {
            try {
                numbers.add(Double.parseDouble(number));
            } catch (NumberFormatException e) {
                throw SaccadeException.user("got %s, expected numbers separated by commas", number);
            }
        }
        return numbers.build();
    }

    private Tracker.Config tracker() {
        ConfigNode.Mapping none = new ConfigNode.Mapping(Map.of(), Origin.DEFAULT);
        List<String> override =
                tracker.map(text -> "tracker" + (isMap(text) ? "=" : ".type=") + text).stream()
                        .toList();
        return Configs.bind(
                        Configs.withOverrides(none, override, TRACKER, Selection.class),
                        Selection.class)
                .tracker;
    }

    private static boolean isMap(String text) {
        return text.strip().startsWith("{");
    }

    /** Returns the settings; empty without {@code --track}. */
    Optional<TrackingSettings> settings(Optional<OutputFolder> folder) {
        return track
                ? Optional.of(
                        new TrackingSettings(
                                tracker(),
                                lines.stream().map(TrackOptions::numbers).toList(),
                                zones.stream().map(TrackOptions::numbers).toList(),
                                folder))
                : Optional.empty();
    }
}

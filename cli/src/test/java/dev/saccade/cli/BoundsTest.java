package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableMap;

import dev.saccade.cli.Numbers.Place;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rejects absurd numbers in configs: no value makes the program hang or run out of memory.
 *
 * <p>Finds numbers by reflection, so a new number without bounds fails here.
 */
class BoundsTest {

    private static final RunConfig RUN =
            RunConfig.parse(
                    """
                    model:
                      backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
                      head: {type: upernet, channels: 16}
                    data:
                      val_transforms: [{type: resize, scales: [[64, 64]]}, {type: normalize}]
                    """);

    private static final ModelSpec SPEC =
            new ModelSpec(RUN.model(), RUN.data().valTransformsAtSize(), List.of("leaf"));

    /** Values that make a component small. */
    private static final Map<String, String> SMALL =
            ImmutableMap.<String, String>builder()
                    .put("embed_dim", "24")
                    .put("embed_dims", "[16, 32, 80, 128]")
                    .put("depths", "[2, 1, 1, 1]")
                    .put("stem_channels", "8")
                    .put("base_channels", "8")
                    .put("channels", "16")
                    .put("feat_channels", "16")
                    .put("out_channels", "16")
                    .put(
                            "rpn_head",
                            "{feat_channels: 16, train_proposals: {nms_pre: 50, max_per_img: 20},"
                                    + " test_proposals: {nms_pre: 50, max_per_img: 20}}")
                    .put("sampler", "{type: random, num: 16}")
                    .put("bbox_head", "{fc_out_channels: 16}")
                    .put(
                            "stages",
                            "[{bbox_head: {num_shared_convs: 1, fc_out_channels: 16},"
                                    + " sampler: {type: random, num: 16}}]")
                    .put("mask_head", "{num_convs: 1, conv_out_channels: 16}")
                    .put("semantic_head", "{num_classes: 2, num_convs: 1, conv_out_channels: 16}")
                    .put("nms", "{max_per_img: 5}")
                    .put("necks", "[{type: fpn, out_channels: 16}]")
                    .put("norm_groups", "4")
                    .buildOrThrow();

    private static final List<Place> PLACES = Numbers.below(List.of(RUN, SPEC), SMALL);

    /** Any value is valid for these keys. */
    private static final Set<String> BOUNDLESS = Set.of("RunConfig.seed", "fold.seed");

    private static final List<Number> EXTREME_INTEGERS =
            List.of(
                    (long) Integer.MAX_VALUE,
                    (long) Integer.MIN_VALUE,
                    Long.MAX_VALUE,
                    Long.MIN_VALUE);

    private static final List<Number> EXTREMES =
            List.of(
                    Double.MAX_VALUE,
                    -Double.MAX_VALUE,
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    Double.NEGATIVE_INFINITY);

    private static final List<Number> ABSURD_INTEGERS =
            List.of(2_000_000_000L, 1_000_000L, 60_000L, -1L, 0L);

    private static final List<Number> ABSURD = List.of(1e30, 1e6, 6e4, 1e-30, -1.0, 0.0);

    private static final Pattern BOUND =
            Pattern.compile("expected (?:at least|at most|more than|less than) (-?[0-9.]+)");

    private static final Duration GENEROUS = Duration.ofMinutes(2);

    private static final long MAX_MEMORY = 8L << 30;

    @Test
    void everyNumberHasBounds() {
        Set<String> boundless = new TreeSet<>();
        for (Place place : PLACES) {
            for (Number extreme : place.isInteger() ? EXTREME_INTEGERS : EXTREMES) {
                refusal(place, extreme)
                        .ifPresentOrElse(
                                message ->
                                        assertTrue(
                                                message.contains(place.message()),
                                                () -> place.message() + " in " + message),
                                () -> boundless.add(place.toString()));
            }
        }
        assertEquals(BOUNDLESS, boundless);
        assertTrue(PLACES.size() > 300, "only " + PLACES.size() + " numbers are found");
    }

    @Test
    void acceptedValuesWork() {
        List<String> failures = new ArrayList<>();
        for (Place place : PLACES) {
            for (Number value : place.isFirst() ? values(place) : List.<Number>of()) {
                try {
                    assertTimeoutPreemptively(GENEROUS, () -> use(place, value));
                } catch (Throwable e) {
                    failures.add(place + ": " + value + ": " + e);
                }
            }
        }
        assertEquals(List.of(), failures);
        assertTrue(
                DeviceMemory.peakResidentBytes() < MAX_MEMORY,
                DeviceMemory.peakResidentBytes() + " bytes");
    }

    /** Uses a number like a user would; a rejection is fine. */
    private static void use(Place place, Number value) {
        try {
            Trial.of(place.bind(value));
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
        }
    }

    /** Returns absurd values and the bounds. */
    private static Set<Number> values(Place place) {
        Set<Number> values = new LinkedHashSet<>(place.isInteger() ? ABSURD_INTEGERS : ABSURD);
        for (Number extreme : place.isInteger() ? EXTREME_INTEGERS : EXTREMES) {
            Matcher bound = BOUND.matcher(refusal(place, extreme).orElse(""));
            if (bound.find()) {
                double number = Double.parseDouble(bound.group(1));
                values.add(place.isInteger() ? (Number) (long) number : (Number) number);
            }
        }
        return values;
    }

    private static Optional<String> refusal(Place place, Number value) {
        try {
            place.bind(value);
            return Optional.empty();
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
            return Optional.of(e.getMessage());
        }
    }
}

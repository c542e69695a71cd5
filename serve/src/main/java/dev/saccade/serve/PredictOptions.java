package dev.saccade.serve;

import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Fields;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Options of a request; {@code png} requests the label map as an image instead of JSON. */
record PredictOptions(ScoreThresholds scores, MaskFormat masks, boolean png) {

    private static final String PER_CLASS = "per-class";

    private static final Set<String> KNOWN = Set.of("score", "masks");

    /** Parses the query and the header {@code Accept}; the error lists all invalid parameters. */
    static PredictOptions of(Request request, double defaultScore, TrainedModel<?> model) {
        boolean segments = ModelInfo.segments(model);
        Fields query = query(request);
        List<String> problems = new ArrayList<>();
        for (Fields.Field field : query) {
            if (!KNOWN.contains(field.getName())) {
                problems.add(field.getName() + ": unknown parameter; expected score or masks");
            } else if (field.getValues().size() > 1) {
                problems.add(
                        field.getName()
                                + ": got "
                                + field.getValues().size()
                                + " values, expected one");
            }
        }
        ScoreThresholds scores =
                thresholds(query.getValue("score"), defaultScore, model, problems::add);
        String word = query.getValue("masks");
        MaskFormat masks = MaskFormat.of(word == null ? MaskFormat.RLE.word() : word).orElse(null);
        if (masks == null) {
            problems.add("masks: got " + word + ", expected one of " + MaskFormat.words());
        }
        if (!problems.isEmpty()) {
            throw Problem.badRequest("%s", String.join("; ", problems));
        }
        return new PredictOptions(scores, masks, acceptsPng(request, segments));
    }

    /** Parses a minimum score; null is the default. Reports an invalid score. */
    static ScoreThresholds thresholds(
            String text, double defaultScore, TrainedModel<?> model, Consumer<String> problems) {
        if (text != null && ModelInfo.segments(model)) {
            problems.accept("score: does not apply to a segmenter; remove it");
        } else if (PER_CLASS.equals(text)) {
            return model.match(
                    detector -> detector.scoreThresholds(),
                    segmenter -> ScoreThresholds.DEFAULT,
                    classifier -> ScoreThresholds.of(0));
        } else if (text != null) {
            double score = number(text);
            if (score >= 0 && score <= 1) {
                return ScoreThresholds.of(score);
            }
            problems.accept(
                    "score: got " + text + ", expected a number from 0 to 1, or " + PER_CLASS);
        }
        return ScoreThresholds.of(defaultScore);
    }

    private static Fields query(Request request) {
        try {
            return Request.extractQueryParameters(request);
        } catch (RuntimeException e) {
            throw Problem.badRequest(
                    "the query of the URL cannot be parsed; expected for example"
                            + " score=0.5&masks=rle");
        }
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static boolean acceptsPng(Request request, boolean segments) {
        List<String> accepted = request.getHeaders().getQualityCSV(HttpHeader.ACCEPT);
        if (accepted.isEmpty()) {
            return false;
        }
        for (String range : accepted) {
            String type = range.replaceAll("\\s*;.*", "");
            if (Set.of("*/*", "application/*", "application/json").contains(type)) {
                return false;
            }
            if (segments && Set.of("image/png", "image/*").contains(type)) {
                return true;
            }
        }
        throw Problem.exception(
                HttpStatus.NOT_ACCEPTABLE_406,
                "Accept: got %s, expected application/json%s",
                String.join(", ", accepted),
                segments ? " or image/png" : "; only a segmenter returns images");
    }
}

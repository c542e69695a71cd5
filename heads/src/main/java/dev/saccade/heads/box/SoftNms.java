package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.vision.Nms;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Soft-NMS (Bodla et al. 2017), like mmcv's {@code soft_nms} and {@code batched_nms}, even in ties.
 *
 * <p>Runs in Java in float32 after one copy to the host. As in mmcv, the first selected box may
 * score less than {@code min_score}. Zero-area boxes overlap nothing; in mmcv their scores become
 * NaN.
 *
 * @param scoreThr minimum initial score, exclusive
 * @param iouThreshold minimum IoU for a score to decay; unused by {@code gaussian}
 * @param minScore drops boxes whose decayed score is smaller
 * @param offset added to widths and heights, in pixels: 1 for inclusive integer corners
 * @param splitThr processes classes one by one from this many scores above {@code score_thr}
 * @param classAgnostic whether boxes decay scores of other classes; only below {@code split_thr}
 */
@Component("soft_nms")
public record SoftNms(
        @Default("0.05") double scoreThr,
        @Default("0.5") double iouThreshold,
        @Default("100") int maxPerImg,
        @Default("linear") Method method,
        @Default("0.5") double sigma,
        @Default("0.001") double minScore,
        @Default("0") int offset,
        @Default("10000") int splitThr,
        @Default("false") boolean classAgnostic)
        implements MulticlassNms {

    /** Factor that multiplies the score of an overlapping box. */
    public enum Method {
        /** 1 - IoU. */
        LINEAR,
        /** exp(-IoU² / sigma), for any IoU. */
        GAUSSIAN,
        /** 0: plain NMS, but with IoU >= threshold. */
        NAIVE
    }

    public SoftNms {
        new Checks()
                .below("score_thr", scoreThr, 0, 1)
                .inRange("iou_threshold", iouThreshold, 0, 1)
                .inRange("max_per_img", maxPerImg, 1, 100_000_000)
                .inRange("sigma", sigma, 0.000001, 1000)
                .inRange("min_score", minScore, 0, 1)
                .inRange("offset", offset, 0, 1)
                .inRange("split_thr", splitThr, 1, 100_000_000)
                .throwIfAny();
    }

    @Override
    public Kept apply(ScoredBoxes scored) {
        Shape shape = scored.scores().getShape();
        int images = (int) shape.get(0);
        int classes = (int) shape.get(2);
        int pairs = (int) shape.get(1) * classes;
        int corners = 4 * (int) scored.boxes().getShape().get(1);
        float[] rows =
                Tensors.readFloats(
                        Functional.flatten(scored.boxes(), 1)
                                .concat(Functional.flatten(scored.scores(), 1), 1));
        int[][] kept = new int[images][];
        float[][] scores = new float[images][];
        for (int n = 0; n < images; n++) {
            int row = n * (corners + pairs);
            float[] boxes = Arrays.copyOfRange(rows, row, row + corners);
            scores[n] = Arrays.copyOfRange(rows, row + corners, row + corners + pairs);
            kept[n] = select(boxes, scores[n], classes);
        }
        Nms.Kept found = Nms.Kept.of(scored.scores(), kept, Math.min(maxPerImg, pairs));
        Detections detections = Detections.of(scored, found);
        NDArray decayed = decayed(scored.scores(), kept, scores, detections.maxPerImage());
        return new Kept(detections.withScores(decayed), found.positions());
    }

    private static NDArray decayed(NDArray like, int[][] kept, float[][] scores, int width) {
        float[] values = new float[kept.length * width];
        Arrays.fill(values, Float.NEGATIVE_INFINITY);
        for (int n = 0; n < kept.length; n++) {
            for (int k = 0; k < kept[n].length; k++) {
                values[n * width + k] = scores[n][kept[n][k]];
            }
        }
        return Tensors.of(like.getManager(), values, new Shape(kept.length, width));
    }

    /**
     * Returns the indices of the kept (box, class) pairs of an image, best first.
     *
     * @param boxes corners of R or {@code R * C} boxes
     * @param scores {@code R * C}; decayed in place
     */
    private int[] select(float[] boxes, float[] scores, int classes) {
        int[] candidates =
                IntStream.range(0, scores.length)
                        .filter(pair -> scores[pair] > (float) scoreThr)
                        .toArray();
        boolean perClass = boxes.length == 4 * scores.length;
        float[] corners = new float[4 * candidates.length];
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < corners.length; i++) {
            int pair = candidates[i / 4];
            corners[i] = boxes[4 * (perClass ? pair : pair / classes) + i % 4];
            max = Math.max(max, corners[i]);
        }
        for (int i = 0; i < corners.length && !classAgnostic; i++) {
            corners[i] += candidates[i / 4] % classes * (max + 1);
        }
        if (candidates.length < splitThr) {
            int[] all = IntStream.range(0, candidates.length).toArray();
            return new CandidateList(candidates, corners, scores, all).select(maxPerImg, scores);
        }
        return IntStream.range(0, classes)
                .mapToObj(c -> candidatesOfClass(c, candidates, classes))
                .map(members -> new CandidateList(candidates, corners, scores, members))
                .flatMapToInt(list -> Arrays.stream(list.select(list.end, scores)))
                .sorted()
                .boxed()
                .sorted(Comparator.comparingDouble(pair -> -scores[pair]))
                .limit(maxPerImg)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private static int[] candidatesOfClass(int label, int[] candidates, int classes) {
        return IntStream.range(0, candidates.length)
                .filter(k -> candidates[k] % classes == label)
                .toArray();
    }

    /** Selected boxes followed by the remaining candidates; their order decides ties. */
    private final class CandidateList {

        private static final int AREA = 4;
        private static final int SCORE = 5;
        private static final int COLUMNS = 6;

        private final float[] rows;
        private final int[] pairs;
        private int end;

        CandidateList(int[] candidates, float[] corners, float[] scores, int[] members) {
            end = members.length;
            // The last row is temporary space for swaps.
            rows = new float[COLUMNS * (end + 1)];
            pairs = new int[end + 1];
            for (int i = 0; i < end; i++) {
                int row = COLUMNS * i;
                System.arraycopy(corners, 4 * members[i], rows, row, 4);
                float width = rows[row + 2] - rows[row] + offset;
                rows[row + AREA] = width * (rows[row + 3] - rows[row + 1] + offset);
                pairs[i] = candidates[members[i]];
                rows[row + SCORE] = scores[pairs[i]];
            }
        }

        /** Returns the kept pairs, best first; writes their scores to {@code scores}. */
        int[] select(int max, float[] scores) {
            int temporary = end;
            int count = 0;
            for (; count < Math.min(end, max); count++) {
                int best = best(count);
                move(best, temporary);
                move(count, best);
                move(temporary, count);
                scores[pairs[count]] = rows[COLUMNS * count + SCORE];
                decayScores(count);
            }
            return Arrays.copyOf(pairs, count);
        }

        private int best(int from) {
            int best = from;
            for (int i = from + 1; i < end; i++) {
                if (rows[COLUMNS * best + SCORE] < rows[COLUMNS * i + SCORE]) {
                    best = i;
                }
            }
            return best;
        }

        /** Decays the scores of all later rows; the last row replaces a dropped row. */
        private void decayScores(int selected) {
            int i = selected + 1;
            while (i < end) {
                int score = COLUMNS * i + SCORE;
                rows[score] *= weight(iou(COLUMNS * selected, COLUMNS * i));
                if (rows[score] < (float) minScore) {
                    end--;
                    move(end, i);
                } else {
                    i++;
                }
            }
        }

        private void move(int from, int to) {
            System.arraycopy(rows, COLUMNS * from, rows, COLUMNS * to, COLUMNS);
            pairs[to] = pairs[from];
        }

        private float iou(int a, int b) {
            float left = Math.max(rows[a], rows[b]);
            float top = Math.max(rows[a + 1], rows[b + 1]);
            float right = Math.min(rows[a + 2], rows[b + 2]);
            float bottom = Math.min(rows[a + 3], rows[b + 3]);
            float width = Math.max(0, right - left + offset);
            float shared = width * Math.max(0, bottom - top + offset);
            return shared / (rows[a + AREA] + rows[b + AREA] - shared);
        }
    }

    private float weight(float iou) {
        boolean overlaps = iou >= (float) iouThreshold;
        return switch (method) {
            case LINEAR -> overlaps ? 1 - iou : 1;
            case GAUSSIAN -> Float.isNaN(iou) ? 1 : (float) Math.exp(-(iou * iou) / (float) sigma);
            case NAIVE -> overlaps ? 0 : 1;
        };
    }
}

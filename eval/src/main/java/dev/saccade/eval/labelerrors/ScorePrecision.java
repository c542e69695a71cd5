package dev.saccade.eval.labelerrors;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Precision of a class by detection score, from isotonic regression (pool adjacent violators), with
 * a pseudo-count of half a right and half a wrong detection.
 */
final class ScorePrecision {

    private static final double LOWEST = 1e-3;

    private final double[] scores;
    private final double[] precisions;

    /** Detections with increasing precision that are merged; {@code score} is the highest. */
    private record Block(double score, int right, int all) {

        double rate() {
            return (double) right / all;
        }

        Block with(Block higher) {
            return new Block(higher.score, right + higher.right, all + higher.all);
        }
    }

    /** A detection and whether it matches a label. */
    record Outcome(double score, boolean isRight) {}

    ScorePrecision(List<Outcome> outcomes) {
        List<Block> blocks = new ArrayList<>();
        outcomes.stream()
                .sorted(Comparator.comparingDouble(Outcome::score))
                .forEach(
                        outcome -> {
                            blocks.add(new Block(outcome.score, outcome.isRight ? 1 : 0, 1));
                            while (blocks.size() > 1 && isDecreasing(blocks)) {
                                Block last = blocks.remove(blocks.size() - 1);
                                blocks.set(
                                        blocks.size() - 1,
                                        blocks.get(blocks.size() - 1).with(last));
                            }
                        });
        scores = blocks.stream().mapToDouble(Block::score).toArray();
        precisions = new double[scores.length];
        double highest = LOWEST;
        for (int i = 0; i < scores.length; i++) {
            Block block = blocks.get(i);
            highest = Math.max(highest, (block.right + 0.5) / (block.all + 1));
            precisions[i] = Math.min(highest, 1 - LOWEST);
        }
    }

    private static boolean isDecreasing(List<Block> blocks) {
        int last = blocks.size() - 1;
        return blocks.get(last - 1).rate() >= blocks.get(last).rate();
    }

    /** Returns the precision at a score; low without detections. */
    double at(double score) {
        if (scores.length == 0) {
            return LOWEST;
        }
        int found = Arrays.binarySearch(scores, score);
        int block = found >= 0 ? found : -found - 1;
        return precisions[Math.min(block, precisions.length - 1)];
    }
}

package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.index.NDIndex;

import dev.saccade.core.ops.script.Script;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.Detections;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Regions of an image among which those are drawn that a stage is trained on.
 *
 * @param boxes {@code [N, 4]} float32 corners
 * @param there {@code [N]} boolean: false for fillers, of which nothing is learned
 */
record Candidates(NDArray boxes, NDArray there) {

    private static final Script THERE =
            Script.compile(
                    "(scores: Tensor, counts: Tensor) -> Tensor",
                    """
                    column = torch.arange(torch.size(scores, 1), dtype=4, device=counts.device)
                    return torch.lt(torch.unsqueeze(column, 0), torch.unsqueeze(counts, 1))
                    """);

    private static final Script WITHOUT_FILLERS =
            Script.compile(
                    "(gt_inds: Tensor, there: Tensor) -> Tensor",
                    "return torch.where(there, gt_inds, -1)");

    /** Returns which of so many regions of each image there are, {@code [B, M]} boolean. */
    static NDArray there(Detections proposals) {
        return THERE.run(proposals.scores(), proposals.counts());
    }

    /** Returns the proposals of each image. */
    static List<Candidates> of(Detections proposals) {
        NDArray there = there(proposals);
        return IntStream.range(0, Math.toIntExact(there.getShape().get(0)))
                .mapToObj(n -> new Candidates(proposals.boxes().get(n), there.get(n)))
                .toList();
    }

    /**
     * Returns the regions of each image.
     *
     * @param boxes {@code [R, 4]} those of all images, image after image
     * @param there {@code [R]} boolean
     * @param counts how many are of each image
     */
    static List<Candidates> of(NDArray boxes, NDArray there, List<Integer> counts) {
        List<Candidates> images = new ArrayList<>();
        int start = 0;
        for (int count : counts) {
            NDIndex rows = new NDIndex("{}:{}", start, start + count);
            images.add(new Candidates(boxes.get(rows), there.get(rows)));
            start += count;
        }
        return images;
    }

    /** Returns what the regions should learn: fillers nothing. */
    Assignment withoutFillers(Assignment assignment) {
        return new Assignment(
                WITHOUT_FILLERS.run(assignment.gtInds(), there), assignment.maxOverlaps());
    }
}

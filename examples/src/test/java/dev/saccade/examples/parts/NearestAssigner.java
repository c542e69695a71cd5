package dev.saccade.examples.parts;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.Priors;

import java.util.Comparator;
import java.util.stream.IntStream;

/** Every object takes the priors of each level whose centers are nearest. */
@Part("nearest")
public record NearestAssigner(@Default("3") int topk) implements Assigner {

    public NearestAssigner {
        new Checks().within("topk", topk, 1, 1000).throwIfAny();
    }

    @Override
    public Assignment assign(Priors priors, Instances objects) {
        Boxes boxes = priors.boxes();
        int[] gtInds = new int[boxes.size()];
        for (int k = 0; k < objects.size(); k++) {
            int object = k;
            int start = 0;
            for (int count : priors.perLevel()) {
                IntStream.range(start, start + count)
                        .boxed()
                        .sorted(Comparator.comparing(i -> distance(boxes, i, objects, object)))
                        .limit(topk)
                        .forEach(i -> gtInds[i] = object + 1);
                start += count;
            }
        }
        return new Assignment(gtInds, new float[gtInds.length]);
    }

    private static double distance(Boxes boxes, int i, Instances objects, int k) {
        Boxes truth = objects.boxes();
        return Math.hypot(
                boxes.x1(i) + boxes.x2(i) - truth.x1(k) - truth.x2(k),
                boxes.y1(i) + boxes.y2(i) - truth.y1(k) - truth.y2(k));
    }
}

package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Priors;

import java.util.Map;

/** Assigns each object to the nearest prior of each level. */
@Component("nearest")
public record NearestAssigner(@Default("3") int topk) implements Assigner {

    /** The last of several objects wins. */
    private static final ScriptTemplate NEAREST =
            ScriptTemplate.of(
                    "(priors: Tensor, objects: Tensor) -> Tensor",
                    """
                    p = torch.unbind(priors, 1)
                    o = torch.unbind(torch.unsqueeze(objects, 2), 1)
                    x = torch.sub(torch.add(p[0], p[2]), torch.add(o[0], o[2]))
                    y = torch.sub(torch.add(p[1], p[3]), torch.add(o[1], o[3]))
                    count = {topk}
                    if count > torch.size(priors, 0):
                      count = torch.size(priors, 0)
                    _0, near = torch.topk(torch.hypot(x, y), count, 1, False, True)
                    k = torch.size(objects, 0)
                    number = torch.arange(1, k + 1, dtype=4, device=priors.device)
                    taken = torch.zeros([k, torch.size(priors, 0)], dtype=4, device=priors.device)
                    number = torch.expand(torch.unsqueeze(number, 1), [-1, count])
                    return torch.amax(torch.scatter(taken, 1, near, number), [0])
                    """);

    public NearestAssigner {
        new Checks().inRange("topk", topk, 1, 1000).throwIfAny();
    }

    @Override
    public Assignment assign(Priors priors, GtInstances objects) {
        NDArray none = priors.boxes().getManager().zeros(new Shape(priors.size()));
        if (objects.size() == 0) {
            return new Assignment(none.toType(DataType.INT64, false), none);
        }
        NDList gtInds = new NDList();
        long start = 0;
        for (int count : priors.perLevel()) {
            NDArray level = priors.boxes().get(start + ":" + (start + count));
            gtInds.add(NEAREST.with(Map.of("topk", topk)).run(level, objects.boxes()));
            start += count;
        }
        return new Assignment(Tensors.concat(gtInds, 0), none);
    }
}

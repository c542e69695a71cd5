package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/** Group normalization over the groups of channels of each image (Wu and He 2018). */
public final class GroupNorm extends Layer {

    private static final ScriptTemplate NORMALIZE =
            ScriptTemplate.of(
                    "(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor",
                    "return torch.group_norm(x, {groups}, weight, bias, {eps})");

    private final Parameter weight;
    private final Parameter bias;
    private final Script script;

    /** Makes a normalization with PyTorch's eps of 1e-5. */
    public GroupNorm(int groups, int channels) {
        weight = parameter("weight", new Shape(channels), WeightInit.ONES);
        bias = parameter("bias", new Shape(channels), WeightInit.ZEROS);
        script = NORMALIZE.with(Map.of("groups", groups, "eps", 1e-5));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return script.run(x, weight.getArray(), bias.getArray());
    }
}

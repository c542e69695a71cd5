package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.ops.Scope;

import java.util.Optional;

/**
 * Images to tokens: a convolution over patches that do not overlap and, where there is one, a layer
 * normalisation. An image is padded with zeros at the bottom and right to whole patches.
 */
final class PatchEmbed extends Layer {

    private final int patch;
    private final Conv2d proj;
    private final Optional<LayerNorm> norm;

    PatchEmbed(int in, int out, int patch, boolean normalised) {
        this.patch = patch;
        proj = add("proj", Conv2d.withDefaultInit(new Conv2d.Geometry(in, out, patch, patch, 0)));
        norm = normalised ? Optional.of(add("norm", new LayerNorm(out))) : Optional.empty();
    }

    /**
     * Embeds patches.
     *
     * @param x {@code [N, in, H, W]}
     * @return {@code [N, ceil(H / patch), ceil(W / patch), out]}
     */
    @Override
    public NDArray forward(NDArray x) {
        return Scope.array(
                () -> {
                    NDArray tokens = proj.forward(padded(x)).transpose(0, 2, 3, 1);
                    return norm.map(layer -> layer.forward(tokens)).orElse(tokens);
                });
    }

    private NDArray padded(NDArray x) {
        long below = Math.floorMod(-x.getShape().get(2), (long) patch);
        long right = Math.floorMod(-x.getShape().get(3), (long) patch);
        return below + right == 0 ? x : x.pad(new Shape(0, right, 0, below), 0);
    }
}

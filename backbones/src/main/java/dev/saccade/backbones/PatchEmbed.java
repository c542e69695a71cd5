package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.ops.script.Tracer;

import java.util.Optional;

/**
 * Patch embedding: a strided convolution and an optional layer normalization. May zero-pad images
 * at the bottom and right to whole patches.
 */
final class PatchEmbed extends Layer {

    private final int divisor;

    private final Conv2d proj;
    private final Optional<LayerNorm> norm;

    PatchEmbed(Geometry geometry, boolean normalized, boolean padded) {
        this(
                Conv2d.withDefaultInit(geometry),
                normalized ? Optional.of(new LayerNorm(geometry.out())) : Optional.empty(),
                padded ? geometry.stride() : 1);
    }

    /** Creates an embedding that pads images to multiples of {@code divisor}. */
    PatchEmbed(Conv2d proj, Optional<LayerNorm> norm, int divisor) {
        this.divisor = divisor;
        this.proj = add("proj", proj);
        this.norm = norm.map(layer -> add("norm", layer));
    }

    /**
     * Maps {@code [N, in, H, W]} to {@code [N, H', W', out]}; with padding, {@code H' = ceil(H /
     * patch)}.
     */
    @Override
    protected NDArray forward(NDArray x) {
        NDArray tokens = proj.apply(padded(x)).transpose(0, 2, 3, 1);
        return norm.map(layer -> layer.apply(tokens)).orElse(tokens);
    }

    private NDArray padded(NDArray x) {
        long below = Math.floorMod(-x.getShape().get(2), (long) divisor);
        long right = Math.floorMod(-x.getShape().get(3), (long) divisor);
        boolean isWhole = below + right == 0 && !Tracer.isRecording();
        return isWhole ? x : x.pad(new Shape(0, right, 0, below), 0);
    }
}

package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.backbones.LinGlo.Config;
import dev.saccade.backbones.LinGlo.DownNorm;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.WeightInit;

import java.util.Optional;

final class LinGloDownSampling {

    /** Patch size of DeiT. */
    static final int FLAT_PATCH = 16;

    private static final int IMAGE_SIZE = 224;

    private LinGloDownSampling() {}

    /**
     * Returns the layer before a stage, 0 to 3, if any. Add the layer without a name, because its
     * parameter names are complete.
     */
    static Optional<Layer> before(int stage, Config config) {
        return switch (config.downSampling()) {
            case CONV -> Optional.of(new Downsampling(config, stage));
            case PATCH -> Optional.of(patches(config, stage));
            case NONE -> stage == 0 ? Optional.of(patches(config, 0)) : Optional.empty();
        };
    }

    /** Overlapping patches: stride 4 for images, stride 2 for maps. */
    private static final class Downsampling extends Layer {

        private final boolean isStem;
        private final Conv2d conv;
        private final LayerNorm norm;
        private final boolean normalizesFirst;

        Downsampling(Config config, int stage) {
            isStem = stage == 0;
            int in = isStem ? 3 : config.channels(stage - 1);
            int out = config.channels(stage);
            normalizesFirst = !isStem && config.downNorm() == DownNorm.PRE;
            String name = "down" + (stage + 1);
            norm =
                    add(
                            isStem ? "stemNorm" : name + ".norm",
                            new LayerNorm(normalizesFirst ? in : out, LinGlo.EPS));
            Geometry geometry =
                    isStem
                            ? new Geometry(in, out, 7).stride(4).padding(3)
                            : new Geometry(in, out, 3).stride(2).padding(1);
            conv = add(name + ".conv", convolution(geometry));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return normalizesFirst ? convolved(norm.apply(x)) : norm.apply(convolved(x));
        }

        private NDArray convolved(NDArray x) {
            NDArray map = isStem ? x : x.transpose(0, 3, 1, 2);
            return conv.apply(map).transpose(0, 2, 3, 1);
        }
    }

    /** Returns an embedding of padded, non-overlapping patches with absolute positions. */
    private static Layer patches(Config config, int stage) {
        int in = stage == 0 ? 3 : config.channels(stage - 1);
        int out = config.channels(stage);
        int patch = stage == 0 ? config.stride(0) : 2;
        Conv2d conv = convolution(new Geometry(in, out, patch).stride(patch));
        Optional<LayerNorm> norm = Optional.of(new LayerNorm(out, LinGlo.EPS));
        return new PositionedPatchEmbed(
                stage,
                new PatchEmbed(conv, norm, patch),
                out,
                IMAGE_SIZE / config.stride(stage),
                PositionedPatchEmbed.Token.NONE);
    }

    private static Conv2d convolution(Geometry geometry) {
        return new Conv2d(geometry, WeightInit.kaimingNormal(), WeightInit.ZEROS);
    }
}

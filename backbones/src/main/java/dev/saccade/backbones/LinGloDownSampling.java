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

/** The layers of LinGlo that change the size of a map. */
final class LinGloDownSampling {

    /** The patches of DeiT. */
    static final int FLAT_PATCH = 16;

    /** The images of ImageNet that position tables are for. */
    private static final int IMAGE_SIZE = 224;

    private LinGloDownSampling() {}

    /**
     * Returns the layer in front of a stage, if there is one.
     *
     * <p>The names of its parameters are complete; the layer itself has no name.
     *
     * @param stage 0 to 3
     */
    static Optional<Layer> before(int stage, Config config) {
        return switch (config.downSampling()) {
            case CONV ->
                    Optional.of(
                            stage == 0
                                    ? new Stem(config.channels(0))
                                    : new Downsampling(config, stage));
            case PATCH -> Optional.of(new PatchEmbedding(config, stage));
            case NONE -> stage == 0 ? Optional.of(new PatchEmbedding(config, 0)) : Optional.empty();
        };
    }

    /** Images to tokens of stride 4, by patches that overlap. */
    private static final class Stem extends Layer {

        private final Conv2d conv;
        private final LayerNorm norm;

        Stem(int channels) {
            conv =
                    add(
                            "down1.conv",
                            convolution(new Geometry(3, channels, 7).stride(4).padding(3)));
            norm = add("stemNorm", new LayerNorm(channels, LinGlo.EPS));
        }

        @Override
        protected NDArray forward(NDArray images) {
            return norm.apply(conv.apply(images).transpose(0, 2, 3, 1));
        }
    }

    /** Reduces a map to the next stage with overlapping patches. */
    private static final class Downsampling extends Layer {

        private final Conv2d conv;
        private final LayerNorm norm;
        private final boolean normalizesFirst;

        Downsampling(Config config, int stage) {
            int in = config.channels(stage - 1);
            int out = config.channels(stage);
            normalizesFirst = config.downNorm() == DownNorm.PRE;
            conv = convolution(new Geometry(in, out, 3).stride(2).padding(1));
            String name = "down" + (stage + 1);
            norm = add(name + ".norm", new LayerNorm(normalizesFirst ? in : out, LinGlo.EPS));
            add(name + ".conv", conv);
        }

        @Override
        protected NDArray forward(NDArray x) {
            return normalizesFirst ? convolved(norm.apply(x)) : norm.apply(convolved(x));
        }

        private NDArray convolved(NDArray x) {
            return conv.apply(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1);
        }
    }

    /** Patches that do not overlap, padded to whole patches, with absolute positions. */
    private static final class PatchEmbedding extends Layer {

        private final boolean ofImage;
        private final PatchEmbed embed;
        private final AbsolutePositions positions;

        PatchEmbedding(Config config, int stage) {
            ofImage = stage == 0;
            int in = ofImage ? 3 : config.channels(stage - 1);
            int out = config.channels(stage);
            int patch = ofImage ? config.stride(0) : 2;
            Conv2d conv = convolution(new Geometry(in, out, patch).stride(patch));
            embed =
                    add(
                            "patch_embed" + (stage + 1),
                            new PatchEmbed(
                                    conv, Optional.of(new LayerNorm(out, LinGlo.EPS)), patch));
            int side = IMAGE_SIZE / config.stride(stage);
            positions = add("", new AbsolutePositions(stage, out, side, false));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return positions.apply(embed.apply(ofImage ? x : x.transpose(0, 3, 1, 2)));
        }
    }

    private static Conv2d convolution(Geometry geometry) {
        return new Conv2d(geometry, WeightInit.kaimingNormal(), WeightInit.ZEROS);
    }
}

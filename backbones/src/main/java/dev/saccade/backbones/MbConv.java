package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;

import java.util.List;

/**
 * MBConv block of CoAtNet (Dai et al. 2021) on tokens {@code [N, H, W, C]}: pre-norm inverted
 * bottleneck with expansion 4, 3x3 depth-wise convolution, squeeze-and-excitation and stochastic
 * depth.
 */
final class MbConv extends Layer {

    private static final int EXPANSION = 4;

    private final Layer layers;
    private final DropPath dropPath;

    MbConv(int channels, BatchNormType type, double dropPath) {
        int hidden = EXPANSION * channels;
        Geometry project = new Geometry(hidden, channels, 1);
        layers =
                add(
                        "",
                        new Sequential()
                                .then(StagedTransformer::toMap)
                                .append("norm", new BatchNorm2d(channels, type))
                                .append(
                                        "expand.conv",
                                        Conv2d.withoutBias(new Geometry(channels, hidden, 1)))
                                .append("expand.bn", new BatchNorm2d(hidden, type))
                                .then(Functional::gelu)
                                .append("dw.conv", PositionEncoding.convolution(hidden, null))
                                .append("dw.bn", new BatchNorm2d(hidden, type))
                                .then(Functional::gelu)
                                .append(
                                        "se",
                                        new SqueezeExcitation(hidden, Math.max(1, channels / 4)))
                                .append("project", new Conv2d(project, WeightInit.kaimingNormal()))
                                .then(StagedTransformer::toTokens));
        this.dropPath = add("drop_path", new DropPath(dropPath));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return x.add(dropPath.apply(layers.apply(x)));
    }

    /** Squeeze-and-excitation (Hu et al. 2018). */
    private static final class SqueezeExcitation extends Layer {

        private final Linear reduce;
        private final Linear restore;

        SqueezeExcitation(int channels, int reduced) {
            reduce = add("reduce", new Linear(channels, reduced));
            restore = add("restore", new Linear(reduced, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray reduced = reduce.apply(Functional.mean(x, List.of(2, 3), false));
            NDArray gate = Functional.sigmoid(restore.apply(Functional.gelu(reduced)));
            return x.mul(gate.expandDims(-1).expandDims(-1));
        }
    }
}

package dev.saccade.heads.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.LabelMap;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * Semantic segmentation branch of Hybrid Task Cascade (Chen et al. 2019), like mmdetection's {@code
 * FusedSemanticHead}.
 */
public final class FusedSemanticHead extends Module
        implements Function<FeaturePyramid, FusedSemanticHead.Output> {

    /** Settings of a semantic branch; all levels are resized to {@code fusion_level}. */
    public record Config(
            @Default("1") int fusionLevel,
            @Default("4") int numConvs,
            @Default("256") int convOutChannels,
            @Default("183") int numClasses,
            @Default("{loss_weight: 0.2}") PixelCrossEntropy lossSeg) {

        public Config {
            new Checks()
                    .inRange("fusion_level", fusionLevel, 0, 15)
                    .inRange("num_convs", numConvs, 0, 100)
                    .inRange("conv_out_channels", convOutChannels, 1, 8192)
                    .inRange("num_classes", numClasses, 2, LabelMap.MAX_CLASSES - 1)
                    .throwIfAny();
        }
    }

    /**
     * Float32 logits {@code [N, K, h, w]} and features {@code [N, C, h, w]} of the fusion level.
     */
    public record Output(NDArray logits, NDArray features) {

        public NDList list() {
            return new NDList(logits, features);
        }
    }

    private final Config config;
    private final List<ConvModule> laterals = new ArrayList<>();
    private final Sequential convs = new Sequential();
    private final ConvModule embedding;
    private final Conv2d classifier;

    /** Creates an uninitialized branch; all levels must have the same number of channels. */
    public FusedSemanticHead(Config config, List<FeatureInfo> features) {
        Checks.require(
                config.fusionLevel() < features.size(),
                "semantic_head.fusion_level",
                config.fusionLevel(),
                "at most %d, the last level of the neck",
                features.size() - 1);
        config.lossSeg().checkFits(config.numClasses());
        this.config = config;
        int in = features.get(0).channels();
        int width = config.convOutChannels();
        for (int level = 0; level < features.size(); level++) {
            laterals.add(add("lateral_convs." + level, Norm.NONE.conv(in, in, 1)));
        }
        for (int i = 0; i < config.numConvs(); i++) {
            convs.append(Norm.NONE.conv(in, width));
            in = width;
        }
        add("convs", convs);
        embedding = add("conv_embedding", Norm.NONE.conv(in, width, 1));
        Geometry scores = new Geometry(in, config.numClasses(), 1);
        classifier = add("conv_logits", new Conv2d(scores, WeightInit.kaimingNormal()));
    }

    @Override
    public Output apply(FeaturePyramid features) {
        return Scope.call(() -> forward(features), Output::list);
    }

    private Output forward(FeaturePyramid features) {
        int fusionLevel = config.fusionLevel();
        NDArray target = features.get(fusionLevel);
        NDArray sum = laterals.get(fusionLevel).apply(target);
        for (int level = 0; level < laterals.size(); level++) {
            if (level != fusionLevel) {
                NDArray resized = Interpolation.resizeTo(target, features.get(level), true);
                sum = sum.add(laterals.get(level).apply(resized));
            }
        }
        NDArray x = convs.apply(sum);
        return new Output(Tensors.toFloat32(classifier.apply(x)), embedding.apply(x));
    }

    /**
     * Returns the weighted loss of labels resized to the logits, by default averaged over all of
     * these labels, including ignored ones.
     *
     * @param logits {@code [N, K, h, w]}
     * @param labels {@code [N, H, W]} int64 in [0, K) or {@link LabelMap#IGNORE}
     */
    public NDArray loss(NDArray logits, NDArray labels) {
        // PyTorch's nearest-neighbor resizing selects the first pixel of every cell.
        NDArray rows = Functional.indexSelect(labels, 1, firstPixels(labels, logits, 0));
        NDArray ofCells = Functional.indexSelect(rows, 2, firstPixels(labels, logits, 1));
        PixelCrossEntropy loss = config.lossSeg();
        NDList sums = Autocast.off(() -> loss.sums(logits, ofCells, true));
        return sums.get(0).div(loss.avgFactor(ofCells));
    }

    private static NDArray firstPixels(NDArray labels, NDArray logits, int axis) {
        long pixels = labels.getShape().get(1 + axis);
        int cells = (int) logits.getShape().get(2 + axis);
        long[] first = LongStream.range(0, cells).map(cell -> cell * pixels / cells).toArray();
        return Tensors.of(labels.getManager(), first, new Shape(cells));
    }

    @Override
    public NDList call(NDList inputs) {
        return apply(new FeaturePyramid(inputs)).list();
    }
}

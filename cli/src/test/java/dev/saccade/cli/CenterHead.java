package dev.saccade.cli;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;

/** A head that drives features to 0, given masks, and always predicts the center of the image. */
public final class CenterHead extends DetectionHead {

    private final Conv2d probe;

    private CenterHead(List<FeatureInfo> features) {
        probe =
                add(
                        "probe",
                        new Conv2d(
                                new Geometry(features.get(0).channels(), 1, 1), WeightInit.ONES));
    }

    public static final class Provider implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Config.class);
        }
    }

    @Component("center")
    public record Config() implements DetectionHead.Config {

        @Override
        public boolean hasMasks() {
            return true;
        }

        @Override
        public DetectionHead build(List<FeatureInfo> features, int numClasses) {
            return new CenterHead(features);
        }
    }

    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        for (int i = 0; i < images.size(); i++) {
            Size padded = images.get(i).padded();
            checkState(targets.get(i).masks().size() == targets.get(i).size(), "masks are missing");
            targets.get(i)
                    .masks()
                    .forEach(mask -> checkState(mask.size().equals(padded), "%s", mask.size()));
        }
        NDArray zero = probe.apply(features.levels().get(0)).square().mean();
        return new Losses(ImmutableMap.of("loss_zero", zero));
    }

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return images.stream().map(image -> center(image.original())).toList();
    }

    private static Instances center(Size size) {
        float x = size.width() / 4f;
        float y = size.height() / 4f;
        return Instances.predicted(Boxes.of(x, y, 3 * x, 3 * y), new int[] {0}, new float[] {0.9f})
                .withMasks(List.of(Rle.fromBox(size, x, y, 2 * x, 2 * y)));
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(probe.apply(inputs.get(0)));
    }
}

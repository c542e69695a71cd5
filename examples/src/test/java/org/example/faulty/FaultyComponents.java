package org.example.faulty;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.SamplingResult;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;
import dev.saccade.train.schedules.Warmup;

import java.util.List;
import java.util.SplittableRandom;

/** Components with typical mistakes. */
public final class FaultyComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                FaultyBoxLoss.class,
                FaultyClassificationLoss.class,
                FaultyAssigner.class,
                FaultySampler.class,
                FaultyTransform.class,
                FaultySchedule.class,
                FaultyNeck.Config.class);
    }

    private static NDArray faulty(NDArray numbers, String fault) {
        return switch (fault) {
            case "shape" -> numbers.abs();
            case "type" -> numbers.abs().sum().toType(DataType.FLOAT64, false);
            case "throws" -> throw new IllegalStateException("no such loss");
            case "torch" -> numbers.add(numbers.getManager().ones(numbers.getShape().add(7)));
            case "script" ->
                    Script.compile("(x: Tensor) -> Tensor", "return torch.sun(x)").run(numbers);
            default -> throw new AssertionError(fault);
        };
    }

    /** A loss of boxes. */
    @Component("faulty_box_loss")
    public record FaultyBoxLoss(@Default("shape") String fault) implements BoxLoss {

        @Override
        public NDArray sum(NDArray pred, NDArray target, NDArray weight) {
            return faulty(pred, fault);
        }
    }

    /** A loss of classes. */
    @Component("faulty_loss")
    public record FaultyClassificationLoss(@Default("shape") String fault)
            implements ClassificationLoss {

        @Override
        public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
            return faulty(logits, fault);
        }
    }

    /** An assigner. */
    @Component("faulty_assigner")
    public record FaultyAssigner(@Default("0") int missing, @Default("0") int index)
            implements Assigner {

        @Override
        public Assignment assign(Priors priors, GtInstances objects) {
            NDManager manager = priors.boxes().getManager();
            Shape shape = new Shape(priors.size() - missing);
            NDArray gtInds = manager.full(shape, index).toType(DataType.INT64, false);
            return new Assignment(gtInds, manager.zeros(shape));
        }
    }

    /** A sampler. */
    @Component("faulty_sampler")
    public record FaultySampler(@Default("shape") String fault) implements BaseSampler {

        @Override
        public SamplingResult sample(Assignment assignment, SplittableRandom random) {
            NDArray gtInds = assignment.gtInds();
            NDArray none = gtInds.getManager().zeros(gtInds.getShape(), DataType.BOOLEAN);
            return switch (fault) {
                case "shape" -> new SamplingResult(none, none.get("1:"), true);
                case "type" -> new SamplingResult(gtInds, none, true);
                case "all" -> new SamplingResult(none.logicalNot(), none, true);
                case "many" -> new SamplingResult(none, none.logicalNot(), true);
                default -> throw new AssertionError(fault);
            };
        }

        @Override
        public int num() {
            return 10;
        }
    }

    /** A transform. */
    @Component("faulty_transform")
    public record FaultyTransform() implements Transform {

        @Override
        public Sample apply(Sample sample, SplittableRandom random) {
            throw new UnsupportedOperationException("not yet");
        }
    }

    /** A schedule. */
    @Component("faulty_schedule")
    public record FaultySchedule(@Default("1") double number, Warmup warmup) implements Schedule {

        @Override
        public double regular(double base, long iteration, RunLength length) {
            return iteration < 1 ? base : Math.log(number);
        }
    }

    /** A neck that changes nothing but declares other levels. */
    public static final class FaultyNeck extends Neck {

        @Component("faulty_neck")
        public record Config() implements Neck.Config {

            @Override
            public Neck build(List<FeatureInfo> features) {
                return new FaultyNeck();
            }
        }

        @Override
        protected FeaturePyramid forward(FeaturePyramid features) {
            return features;
        }

        @Override
        public List<FeatureInfo> features() {
            return List.of(new FeatureInfo(8, 8));
        }
    }
}

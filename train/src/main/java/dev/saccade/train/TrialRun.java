package dev.saccade.train;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Normalization;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.Model;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Optimizer;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A run that is no run: its steps, those of {@link Training}, are taken on pixels and objects drawn
 * by lot and change next to nothing. What they need shows what those of a run would need.
 */
public final class TrialRun implements AutoCloseable {

    private static final double NO_STEP = 1e-6;

    private final long bytesBefore;
    private final Model<?> model;
    private final NDManager manager;
    private final Optimizer optimizer;
    private final TrainStep step;
    private final Device device;
    private final ProcessGroup ranks;
    private RunState state = RunState.START;

    /**
     * Prepares steps.
     *
     * @param config of the run; its data sets and its device do not count
     * @param classes how many labels there are
     */
    public TrialRun(RunConfig config, int classes, Device device) {
        this(config, classes, device, ProcessGroup.alone());
    }

    /**
     * Prepares steps of one of several ranks, each of which takes one with the others.
     *
     * @param config of the run; its data sets and its device do not count
     * @param classes how many labels there are
     */
    public TrialRun(RunConfig config, int classes, Device device, ProcessGroup ranks) {
        OpenCv.load();
        this.device = device;
        this.ranks = ranks;
        bytesBefore = TensorMemory.of(device).map(TensorMemory::bytes).orElse(0L);
        RunConfig alone = config.with("accumulation=1");
        model = config.model().build(Collections.nCopies(classes, "class"));
        manager = Libtorch.newManager(device);
        model.initialize(manager, 0);
        model.train(true);
        optimizer = config.optimizer().build(model);
        step =
                new TrainStep(
                        model::losses,
                        optimizer,
                        config.ema().map(averaging -> averaging.build(model)),
                        alone,
                        ranks);
    }

    /**
     * Takes a step.
     *
     * @param size of the network input
     * @throws SaccadeException of kind user, if so many pixels cannot be held
     */
    public void step(int images, Size size) {
        List<Sample> samples = new ArrayList<>();
        try {
            IntStream.range(0, images).forEach(image -> samples.add(sample(image, size)));
            Iterator<Batch> batches = List.of(Batch.collate(samples)).iterator();
            TrainStep.Result taken =
                    ProcessGroup.during(ranks, () -> step.run(batches, state, 0, NO_STEP));
            state = state.afterStep(taken.images(), taken.scaler());
        } finally {
            samples.forEach(Sample::close);
        }
    }

    /**
     * Returns the most that tensors hold at a time during a step, those of the model and of the
     * optimizer included, but none that were there before; in bytes, 0 where nobody counts them.
     */
    public long peakBytes(int images, Size size) {
        TensorMemory.restart(device);
        step(images, size);
        return TensorMemory.of(device).map(use -> use.peakBytes() - bytesBefore).orElse(0L);
    }

    private Sample sample(int image, Size size) {
        Mat pixels = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        Core.setRNGSeed(image);
        Core.randu(pixels, 0, 255);
        ImageInfo info = ImageInfo.of(image, "", size);
        int classes = model.classes().size();
        Instances objects = new RandomObjects(size, classes).of(image);
        HeadConfig head = model.config().head();
        Sample sample =
                switch (head.targets()) {
                    case BOXES, MASKS -> Sample.of(pixels, info, objects);
                    case LABEL_MAPS -> Sample.of(pixels, info, labels(image, size, classes));
                    case MASKS_AND_LABEL_MAPS ->
                            Sample.of(
                                    pixels,
                                    info,
                                    objects,
                                    labels(image, size, head.semanticClasses()));
                };
        return sample.withNormalization(
                new Normalization(new float[] {128, 128, 128}, new float[] {64, 64, 64}));
    }

    private static LabelMap labels(int image, Size size, int classes) {
        SplittableRandom random = SeededRandom.of(0, image);
        short[] labels = new short[Math.toIntExact(size.area())];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = (short) random.nextInt(classes);
        }
        return LabelMap.of(size, labels);
    }

    @Override
    public void close() {
        optimizer.close();
        manager.close();
    }
}

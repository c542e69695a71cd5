package dev.saccade.train;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.Libtorch;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.Model;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/** Training steps on random batches, to measure time and memory. The learning rate is almost 0. */
public final class TrialRun implements AutoCloseable {

    private static final double NO_STEP = 1e-6;

    private final long bytesBefore;
    private final RandomBatches batches;
    private final NDManager manager;
    private final Optimizer optimizer;
    private final TrainStep step;
    private final Device device;
    private final ProcessGroup ranks;
    private RunState state = RunState.START;

    /** Prepares steps. Ignores data sets, device and accumulation of the config. */
    public TrialRun(RunConfig config, int classes, Device device) {
        this(config, classes, device, ProcessGroup.alone());
    }

    /** Prepares steps of one rank. Ignores data sets, device and accumulation of the config. */
    public TrialRun(RunConfig config, int classes, Device device, ProcessGroup ranks) {
        this.device = device;
        this.ranks = ranks;
        bytesBefore = TensorMemory.of(device).map(TensorMemory::bytes).orElse(0L);
        RunConfig alone = config.with("accumulation=1");
        int channels = config.data().pixels().channels();
        batches = new RandomBatches(config.model().head(), classes, channels);
        Model<?> model = config.model().build(Collections.nCopies(classes, "class"), channels);
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

    /** Runs a step. Fails if the pixels do not fit into memory. */
    public void step(int images, Size size) {
        Iterator<Batch> one = List.of(batches.of(images, size)).iterator();
        TrainStep.Result result = ProcessGroup.with(ranks, () -> step.run(one, state, 0, NO_STEP));
        state = state.afterStep(result.scaler());
    }

    /** Runs a step; returns peak tensor memory in bytes, including the model; 0 if untracked. */
    public long peakBytes(int images, Size size) {
        TensorMemory.resetPeak(device);
        step(images, size);
        return TensorMemory.of(device).map(use -> use.peakBytes() - bytesBefore).orElse(0L);
    }

    @Override
    public void close() {
        optimizer.close();
        manager.close();
    }
}

package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Parameter;

import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.eval.Evaluation;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.optimizers.ModelEma;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Evaluates in inference mode, with the EMA weights if the run has them. */
final class ValidationLoop {

    private ValidationLoop() {}

    /** Returns the result of the evaluation; empty if interrupted. */
    static Optional<Evaluation> run(
            Validation validation,
            Checkpointables content,
            ProcessGroup ranks,
            BooleanSupplier interrupted) {
        Runnable progress =
                () -> {
                    if (interrupted.getAsBoolean()) {
                        throw new TaskCancelledException();
                    }
                };
        content.ema().ifPresent(ModelEma::swap);
        broadcastBuffers(content.model(), ranks);
        content.model().train(false);
        try {
            return Optional.of(NoGrad.call(() -> validation.run(progress)));
        } catch (TaskCancelledException e) {
            return Optional.empty();
        } finally {
            content.model().train(true);
            content.ema().ifPresent(ModelEma::swap);
        }
    }

    /** Broadcasts running statistics from rank 0, like PyTorch's DistributedDataParallel. */
    private static void broadcastBuffers(Module model, ProcessGroup ranks) {
        List<NDArray> buffers =
                model.namedParameters().values().stream()
                        .filter(Module::isBuffer)
                        .map(Parameter::getArray)
                        .toList();
        ranks.broadcast(buffers, 0);
    }
}

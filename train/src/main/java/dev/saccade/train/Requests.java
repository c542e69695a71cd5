package dev.saccade.train;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.core.distributed.ProcessGroup;

import java.util.Optional;

/**
 * What is asked of a run from outside and by hooks, maybe on one rank only.
 *
 * @param interruption whether to end the run now, to be resumed
 * @param evaluation whether to evaluate
 * @param checkpoint whether to save
 * @param stop why to end the run, if it is to end
 */
record Requests(
        boolean interruption, boolean evaluation, boolean checkpoint, Optional<String> stop) {

    /** Returns what any rank asks for, which each of them has called this for. */
    Requests or(ProcessGroup ranks) {
        return ranks.allGather(toBytes()).stream()
                .map(Requests::parse)
                .reduce(Requests::or)
                .orElseThrow();
    }

    private Requests or(Requests later) {
        return new Requests(
                interruption || later.interruption,
                evaluation || later.evaluation,
                checkpoint || later.checkpoint,
                stop.or(later::stop));
    }

    private byte[] toBytes() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        out.writeBoolean(interruption);
        out.writeBoolean(evaluation);
        out.writeBoolean(checkpoint);
        out.writeBoolean(stop.isPresent());
        out.writeUTF(stop.orElse(""));
        return out.toByteArray();
    }

    private static Requests parse(byte[] bytes) {
        ByteArrayDataInput in = ByteStreams.newDataInput(bytes);
        boolean interruption = in.readBoolean();
        boolean evaluation = in.readBoolean();
        boolean checkpoint = in.readBoolean();
        boolean stops = in.readBoolean();
        Optional<String> stop = Optional.of(in.readUTF()).filter(reason -> stops);
        return new Requests(interruption, evaluation, checkpoint, stop);
    }
}

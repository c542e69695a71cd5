package dev.saccade.train.logs;

import com.google.common.collect.ImmutableList;

import java.util.List;

/** Several listeners as one; they hear of everything in their order. */
public final class Listeners implements TrainListener {

    private final ImmutableList<TrainListener> members;

    /** Owns its members from now on. */
    public Listeners(List<TrainListener> members) {
        this.members = ImmutableList.copyOf(members);
    }

    @Override
    public void noted(String line) {
        members.forEach(member -> member.noted(line));
    }

    @Override
    public void stepped(StepReport step) {
        members.forEach(member -> member.stepped(step));
    }

    @Override
    public void averaged(StepReport mean, MemoryUse memory) {
        members.forEach(member -> member.averaged(mean, memory));
    }

    @Override
    public void evaluated(EvaluationReport evaluation) {
        members.forEach(member -> member.evaluated(evaluation));
    }

    /** Closes all, even where one of them throws. */
    @Override
    public void close() {
        close(0);
    }

    private void close(int first) {
        if (first < members.size()) {
            try {
                members.get(first).close();
            } finally {
                close(first + 1);
            }
        }
    }
}

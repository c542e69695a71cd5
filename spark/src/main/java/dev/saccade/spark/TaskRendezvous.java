package dev.saccade.spark;

import com.google.common.net.HostAndPort;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.Rendezvous;

import org.apache.spark.BarrierTaskContext;
import org.apache.spark.resource.ResourceInformation;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Meeting point of the tasks of a barrier stage: a free port on the host of rank 0. */
final class TaskRendezvous {

    private static final String GPU = "gpu";
    private static final Pattern NUMBER = Pattern.compile("\\d{1,3}");

    private final BarrierTaskContext context;
    private final List<String> hosts;
    private final int rank;

    TaskRendezvous(BarrierTaskContext context) {
        this.context = context;
        this.hosts =
                Arrays.stream(context.getTaskInfos())
                        .map(task -> HostAndPort.fromString(task.address()).getHost())
                        .toList();
        this.rank = context.partitionId();
    }

    /**
     * Waits for all tasks and returns their meeting point. {@code timeout} applies to later
     * communication.
     */
    Rendezvous await(Duration timeout) {
        String free = rank == 0 ? Integer.toString(Rendezvous.freePort()) : "";
        int port = Integer.parseInt(context.allGather(free)[0]);
        return new Rendezvous(hosts.get(0), port, rank, hosts.size(), localRank(), timeout);
    }

    /** Returns the number of the task's GPU, or without GPU resources its index on the host. */
    private int localRank() {
        ResourceInformation gpus = context.resourcesJMap().get(GPU);
        if (gpus == null) {
            return (int) hosts.stream().limit(rank).filter(hosts.get(rank)::equals).count();
        }
        String first = gpus.addresses()[0];
        if (!NUMBER.matcher(first).matches()) {
            throw SaccadeException.user(
                    "the GPU of rank %d on %s has the address %s, expected a GPU number;"
                            + " check the script of spark.executor.resource.gpu.discoveryScript",
                    rank, hosts.get(rank), first);
        }
        return Integer.parseInt(first);
    }
}

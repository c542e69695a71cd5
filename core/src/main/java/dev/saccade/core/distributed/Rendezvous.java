package dev.saccade.core.distributed;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.time.Duration;

/**
 * Where ranks meet, in the words of PyTorch's {@code torch.distributed}.
 *
 * @param masterAddress the machine of rank 0
 * @param masterPort a port of it that is free
 * @param rank which one this is, from 0
 * @param worldSize how many there are
 * @param localRank which of those on its machine this is, from 0, or which GPU of the machine it
 *     was given; it computes on the GPU of that number
 * @param timeout how long ranks wait for one another, to come and in what all do together
 */
public record Rendezvous(
        String masterAddress,
        int masterPort,
        int rank,
        int worldSize,
        int localRank,
        Duration timeout) {

    private static final int PORTS = 1 << 16;

    /** Checks the numbers. */
    public Rendezvous {
        checkArgument(worldSize >= 1, "world size: got %s, expected at least 1", worldSize);
        checkArgument(
                rank >= 0 && rank < worldSize,
                "rank: expected 0 to %s, got %s",
                worldSize - 1,
                rank);
        checkArgument(localRank >= 0, "local rank: got %s, expected at least 0", localRank);
        checkArgument(masterPort > 0 && masterPort < PORTS, "master port: got %s", masterPort);
        checkArgument(timeout.toMillis() > 0, "timeout: got %s", timeout);
    }

    /**
     * Returns a port of this machine that is free now.
     *
     * @throws SaccadeException of kind io, if there is none
     */
    public static int freePort() {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw SaccadeException.io(e, "no free port for the rendezvous: %s", e.getMessage());
        }
    }

    /**
     * Returns the address of this machine, as rank 0 sees it.
     *
     * @throws SaccadeException of kind user, if there is no way to rank 0
     */
    String localAddress() {
        InetSocketAddress master = new InetSocketAddress(masterAddress, masterPort);
        if (master.isUnresolved()) {
            throw SaccadeException.user("master address: unknown host %s", masterAddress);
        }
        // Nothing is sent: the system only says by which of its addresses it would be.
        try (DatagramSocket way = new DatagramSocket()) {
            way.connect(master);
            return way.getLocalAddress().getHostAddress();
        } catch (SocketException e) {
            throw SaccadeException.user(
                    e, "rank 0 on %s cannot be reached: %s", masterAddress, e.getMessage());
        }
    }
}

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
 * Rank, world size and master address, as in {@code torch.distributed}.
 *
 * @param masterPort free port of rank 0's host
 * @param localRank index of the rank on its machine; selects its GPU
 * @param timeout how long ranks wait for each other
 */
public record Rendezvous(
        String masterAddress,
        int masterPort,
        int rank,
        int worldSize,
        int localRank,
        Duration timeout) {

    private static final int PORTS = 1 << 16;

    public Rendezvous {
        checkArgument(worldSize >= 1, "world size: got %s, expected at least 1", worldSize);
        checkArgument(
                rank >= 0 && rank < worldSize,
                "rank: expected 0 to %s, got %s",
                worldSize - 1,
                rank);
        checkArgument(localRank >= 0, "local rank: got %s, expected at least 0", localRank);
        checkArgument(
                masterPort > 0 && masterPort < PORTS,
                "master port: got %s, expected 1 to" + " 65535",
                masterPort);
        checkArgument(timeout.toMillis() > 0, "timeout: got %s, expected at least 1 ms", timeout);
    }

    /** Returns a free port on this machine. */
    public static int freePort() {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw SaccadeException.io(e, "no free port for the rendezvous: %s", e.getMessage());
        }
    }

    /** Returns the address of this machine that rank 0 can reach. */
    String localAddress() {
        InetSocketAddress master = new InetSocketAddress(masterAddress, masterPort);
        if (master.isUnresolved()) {
            throw SaccadeException.user("master address: unknown host %s", masterAddress);
        }
        // Sends nothing; only asks the system which local address it would use.
        try (DatagramSocket way = new DatagramSocket()) {
            way.connect(master);
            return way.getLocalAddress().getHostAddress();
        } catch (SocketException e) {
            throw SaccadeException.user(
                    e, "rank 0 on %s cannot be reached: %s", masterAddress, e.getMessage());
        }
    }
}

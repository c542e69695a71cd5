package dev.saccade.models.zoo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Optional;

/** A server that responds to each request with the same bytes, valid HTTP or not. */
final class RawServer implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
    private final String lines;
    private final byte[] forEver;

    /**
     * Starts a server.
     *
     * @param lines response, with HTTP line ends
     * @param forEver sent repeatedly after it until the client disconnects; empty sends nothing
     */
    RawServer(String lines, String forEver) throws IOException {
        this.lines = lines.replace("\n", "\r\n");
        this.forEver = forEver.repeat(1000).getBytes(ISO_8859_1);
        Thread thread = new Thread(this::serve);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        while (!server.isClosed()) {
            try (Socket client = server.accept();
                    BufferedReader in =
                            new BufferedReader(
                                    new InputStreamReader(client.getInputStream(), ISO_8859_1));
                    OutputStream out = client.getOutputStream()) {
                while (!in.readLine().isEmpty()) {
                    // The request does not matter.
                }
                out.write(lines.getBytes(ISO_8859_1));
                while (forEver.length > 0) {
                    out.write(forEver);
                }
            } catch (IOException e) {
                // The client has disconnected.
            }
        }
    }

    Optional<String> address() {
        return Optional.of("http://localhost:" + server.getLocalPort());
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}

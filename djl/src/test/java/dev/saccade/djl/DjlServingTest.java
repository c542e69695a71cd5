package dev.saccade.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;

import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/** A process of DJL Serving that answers photographs by Saccade's models. */
@EnabledIfSystemProperty(
        named = "saccade.serving",
        matches = ".+",
        disabledReason = "-Dsaccade.serving=DIR names no installation of DJL Serving")
class DjlServingTest {

    private static final Duration STARTING = Duration.ofMinutes(2);

    /** What DJL Serving itself is made of. */
    private static final Path LIBRARIES = Path.of(System.getProperty("saccade.serving", ""), "lib");

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir Path folder;

    /** Puts what Saccade needs besides into the folder that DJL Serving takes libraries from. */
    private static void fill(Path libraries) throws IOException {
        Files.createDirectories(libraries);
        String path = System.getProperty("java.class.path");
        for (String name : Splitter.on(File.pathSeparatorChar).split(path)) {
            Path entry = Path.of(name);
            if (Files.isRegularFile(entry)) {
                if (!Files.exists(LIBRARIES.resolve(entry.getFileName()))) {
                    Files.copy(entry, libraries.resolve(entry.getFileName()));
                }
            } else if (Files.isDirectory(entry)) {
                pack(entry, Files.createTempFile(libraries, "classes", ".jar"));
            }
        }
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (Stream<Path> files = Files.walk(classes);
                OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            for (Path member : files.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(member).toString();
                out.putNextEntry(new ZipEntry(name.replace(File.separatorChar, '/')));
                Files.copy(member, out);
            }
        }
    }

    private Process start(int port, List<String> models) throws IOException {
        Path home = folder.resolve("home");
        fill(home.resolve("deps"));
        Path settings =
                Files.writeString(
                        folder.resolve("config.properties"),
                        String.format(
                                Locale.ROOT,
                                """
                                inference_address=http://127.0.0.1:%1$d
                                management_address=http://127.0.0.1:%1$d
                                """,
                                port));
        ProcessBuilder server =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        LIBRARIES.resolve("*").toString(),
                        "ai.djl.serving.ModelServer",
                        "-f",
                        settings.toString(),
                        "-m",
                        String.join(",", models));
        server.environment().put("MODEL_SERVER_HOME", home.toString());
        server.environment().put("OMP_NUM_THREADS", "1");
        return server.directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("server.log").toFile())
                .start();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private void awaitStart(Process server, URI ping) throws Exception {
        Instant end = Instant.now().plus(STARTING);
        while (server.isAlive() && Instant.now().isBefore(end)) {
            try {
                if (send(HttpRequest.newBuilder(ping)).statusCode() == 200) {
                    return;
                }
            } catch (ConnectException e) {
                // It does not listen yet.
            }
            TimeUnit.MILLISECONDS.sleep(200);
        }
        throw new AssertionError(Files.readString(folder.resolve("server.log")));
    }

    @Test
    void respondsBitForBit() throws Exception {
        Path photo = Served.image(folder);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        List<String> models = new ArrayList<>();
        for (TinyModel model : TinyModel.values()) {
            Path served = folder.resolve(model.name());
            ServingFolder.write(Served.checkpoint(model, folder), served);
            models.add(model.name() + "=" + served.toUri());
        }
        Process server = start(port, models);
        try {
            URI root = URI.create("http://127.0.0.1:" + port);
            awaitStart(server, root.resolve("/ping"));
            for (TinyModel model : TinyModel.values()) {
                URI address = root.resolve("/predictions/" + model.name());
                HttpRequest.Builder request = HttpRequest.newBuilder(address);
                HttpResponse<String> answer =
                        send(request.POST(HttpRequest.BodyPublishers.ofFile(photo)));
                assertEquals(200, answer.statusCode(), answer.body());
                Expected.of(model, Served.checkpoint(model, folder), photo)
                        .assertIsJson(answer.body());
                HttpResponse<String> refused =
                        send(request.POST(HttpRequest.BodyPublishers.ofString("no photograph")));
                assertEquals(400, refused.statusCode());
                assertTrue(refused.body().contains("SaccadeException"), refused.body());
            }
        } finally {
            server.destroy();
            server.onExit().get(30, TimeUnit.SECONDS);
        }
    }
}

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends an image from N clients, each of which waits for its response: {@code java LoadTest.java URL
 * IMAGE CLIENTS SECONDS [RELOAD-URL]}. With RELOAD-URL, reloads the model every 5 seconds.
 */
final class LoadTest {

    public static void main(String[] arguments) throws Exception {
        HttpRequest predict =
                HttpRequest.newBuilder(URI.create(arguments[0]))
                        .header("Content-Type", "image/jpeg")
                        .timeout(Duration.ofMinutes(2))
                        .POST(
                                HttpRequest.BodyPublishers.ofByteArray(
                                        Files.readAllBytes(Path.of(arguments[1]))))
                        .build();
        int clients = Integer.parseInt(arguments[2]);
        long seconds = Long.parseLong(arguments[3]);
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        AtomicInteger failed = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        long start = System.nanoTime();
        long end = start + Duration.ofSeconds(seconds).toNanos();
        List<Future<List<Double>>> running = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            running.add(threads.submit(() -> run(http, predict, end, failed)));
        }
        int reloads = 0;
        while (arguments.length > 4 && System.nanoTime() < end) {
            Thread.sleep(5000);
            HttpRequest reload =
                    HttpRequest.newBuilder(URI.create(arguments[4]))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.noBody())
                            .build();
            int status = http.send(reload, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (status != 200) {
                throw new IOException("reload: status " + status);
            }
            reloads++;
        }
        List<Double> times = new ArrayList<>();
        for (Future<List<Double>> each : running) {
            times.addAll(each.get());
        }
        double elapsed = (System.nanoTime() - start) / 1e9;
        double[] sorted = times.stream().mapToDouble(t -> t).sorted().toArray();
        System.out.printf(
                Locale.ROOT,
                "%d requests, %d failed, %d reloads, %.1f requests/s, p50 %.0f ms, p99 %.0f ms%n",
                sorted.length,
                failed.get(),
                reloads,
                sorted.length / elapsed,
                quantile(sorted, 0.5),
                quantile(sorted, 0.99));
        threads.shutdown();
    }

    private static double quantile(double[] sorted, double p) {
        return 1000 * sorted[(int) Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
    }

    private static List<Double> run(
            HttpClient http, HttpRequest request, long end, AtomicInteger failed) {
        List<Double> times = new ArrayList<>();
        while (System.nanoTime() < end) {
            long start = System.nanoTime();
            try {
                int status =
                        http.send(request, HttpResponse.BodyHandlers.ofByteArray()).statusCode();
                if (status != 200) {
                    failed.incrementAndGet();
                }
            } catch (IOException | InterruptedException e) {
                failed.incrementAndGet();
            }
            times.add((System.nanoTime() - start) / 1e9);
        }
        return times;
    }
}

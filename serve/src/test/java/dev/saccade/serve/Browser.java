package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A page in headless Chromium, controlled through the DevTools protocol. */
final class Browser implements AutoCloseable {

    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "chrome");

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<JsonNode>> answers;
    private final List<String> faults;
    private final AtomicInteger calls = new AtomicInteger();

    private Browser(
            Process process,
            WebSocket socket,
            Map<Integer, CompletableFuture<JsonNode>> answers,
            List<String> faults) {
        this.process = process;
        this.socket = socket;
        this.answers = answers;
        this.faults = faults;
    }

    /** Returns the browser named by CHROMIUM or found on PATH. */
    static Optional<Path> find() {
        Stream<Path> named = Stream.ofNullable(System.getenv("CHROMIUM")).map(Path::of);
        Stream<Path> onPath =
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)));
        return Stream.concat(named, onPath).filter(Files::isExecutable).findFirst();
    }

    static Browser open(Path program, Path profile, URI page) throws Exception {
        Process process =
                new ProcessBuilder(
                                program.toString(),
                                "--headless=new",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--disable-background-networking",
                                "--hide-scrollbars",
                                "--remote-debugging-port=0",
                                "--user-data-dir=" + profile,
                                "about:blank")
                        .redirectErrorStream(true)
                        .start();
        URI tools = tools(process);
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest opening =
                HttpRequest.newBuilder(URI.create("http://" + tools.getAuthority() + "/json/new"))
                        .PUT(HttpRequest.BodyPublishers.noBody())
                        .build();
        JsonNode target =
                JSON.readTree(client.send(opening, HttpResponse.BodyHandlers.ofString()).body());
        Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
        List<String> faults = new ArrayList<>();
        WebSocket socket =
                client.newWebSocketBuilder()
                        .buildAsync(
                                URI.create(target.get("webSocketDebuggerUrl").asText()),
                                new Listener(answers, faults))
                        .get();
        Browser browser = new Browser(process, socket, answers, faults);
        browser.call("Runtime.enable", Map.of());
        browser.call("Log.enable", Map.of());
        browser.call("Page.enable", Map.of());
        browser.call("Page.navigate", Map.of("url", page.toString()));
        browser.await("document.body && document.body.dataset.state === 'idle'");
        return browser;
    }

    private static URI tools(Process process) throws IOException {
        BufferedReader out = process.inputReader(UTF_8);
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith("DevTools listening on ")) {
                return URI.create(line.substring(line.indexOf("ws://")));
            }
        }
        throw new IOException("the browser ended before it could be driven");
    }

    /** Joins message fragments and passes messages on. */
    private record Listener(
            Map<Integer, CompletableFuture<JsonNode>> answers,
            List<String> faults,
            StringBuilder text)
            implements WebSocket.Listener {

        private Listener(Map<Integer, CompletableFuture<JsonNode>> answers, List<String> faults) {
            this(answers, faults, new StringBuilder());
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                take(text.toString());
                text.setLength(0);
            }
            socket.request(1);
            return null;
        }

        private void take(String message) {
            try {
                JsonNode output = JSON.readTree(message);
                String method = output.path("method").asText();
                if (output.has("id")) {
                    answers.remove(output.get("id").asInt()).complete(output);
                } else if (method.equals("Runtime.exceptionThrown")
                        || output.at("/params/entry/level").asText().equals("error")) {
                    faults.add(message);
                }
            } catch (IOException e) {
                faults.add(e.toString());
            }
        }
    }

    JsonNode call(String method, Map<String, ?> parameters)
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        int id = calls.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        socket.sendText(
                        JSON.writeValueAsString(
                                Map.of("id", id, "method", method, "params", parameters)),
                        true)
                .get();
        JsonNode output = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (output.has("error")) {
            throw new IOException(method + ": " + output.get("error"));
        }
        return output.get("result");
    }

    /** Evaluates a JavaScript expression; awaits promises. */
    JsonNode evaluate(String expression) throws Exception {
        JsonNode output =
                call(
                        "Runtime.evaluate",
                        Map.of(
                                "expression",
                                expression,
                                "awaitPromise",
                                true,
                                "returnByValue",
                                true,
                                "userGesture",
                                true));
        if (output.has("exceptionDetails")) {
            throw new IOException(expression + ": " + output.get("exceptionDetails"));
        }
        return output.at("/result/value");
    }

    void await(String condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!evaluate("Boolean(" + condition + ")").asBoolean()) {
            if (System.nanoTime() > end) {
                throw new TimeoutException(condition);
            }
            Thread.sleep(50);
        }
    }

    /** Chooses files in an input element. */
    void choose(String selector, List<Path> files) throws Exception {
        JsonNode document = call("DOM.getDocument", Map.of());
        JsonNode input =
                call(
                        "DOM.querySelector",
                        Map.of(
                                "nodeId",
                                document.at("/root/nodeId").asInt(),
                                "selector",
                                selector));
        call(
                "DOM.setFileInputFiles",
                Map.of(
                        "nodeId",
                        input.get("nodeId").asInt(),
                        "files",
                        files.stream().map(file -> file.toAbsolutePath().toString()).toList()));
    }

    /** Sets screen size and theme. */
    void show(int width, int height, boolean dark) throws Exception {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        call(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of(
                                        "name",
                                        "prefers-color-scheme",
                                        "value",
                                        dark ? "dark" : "light"))));
    }

    /** Returns a screenshot of the whole page as PNG. */
    byte[] picture() throws Exception {
        JsonNode picture = call("Page.captureScreenshot", Map.of("captureBeyondViewport", true));
        return Base64.getDecoder().decode(picture.get("data").asText());
    }

    /** Returns the errors of the page. */
    List<String> faults() {
        return faults;
    }

    @Override
    public void close() {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }
}

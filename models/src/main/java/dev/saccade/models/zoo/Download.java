package dev.saccade.models.zoo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import com.google.common.annotations.VisibleForTesting;
import com.google.common.util.concurrent.SimpleTimeLimiter;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import com.google.common.util.concurrent.TimeLimiter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ServerException;
import dev.saccade.core.Text;
import dev.saccade.core.Version;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Downloads a file; a partial download resumes if its {@code ETag} or {@code Last-Modified} is
 * unchanged (RFC 9110, 13.1.5). Redirects from {@code https} to {@code http} are rejected.
 */
final class Download {

    /** Maximum number of attempts; an attempt that receives no data is the last. */
    private static final int MAX_ATTEMPTS = 10;

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final Pattern CONTENT_RANGE =
            Pattern.compile("bytes (\\d+)-\\d+/(\\d+|\\*)", Pattern.CASE_INSENSITIVE);

    private static final String OTHER_SOURCES =
            "download the file in another way and fetch it from its folder, or from a mirror"
                    + " (its URL, or the environment variable SACCADE_WEIGHTS)";

    private static final String RESUMABLE =
            "the partial download is kept; fetch the weights again to resume";

    private static final int MAX_PORT = 0xFFFF;
    private static final int BUFFER = 1 << 16;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    /** Needed because blocking reads of a response body have no timeout. */
    private static final TimeLimiter LIMITER =
            SimpleTimeLimiter.create(
                    Executors.newCachedThreadPool(
                            new ThreadFactoryBuilder().setDaemon(true).build()));

    private final URI address;
    private final Path part;
    private final WeightsCheck check;
    private final PretrainedWeights.Progress progress;
    private final Duration timeout;
    private final HttpClient client;

    /** Prepares a download; {@code part} may contain the start of an earlier download. */
    Download(URI address, Path part, WeightsCheck check, PretrainedWeights.Progress progress) {
        this(address, part, check, progress, TIMEOUT);
    }

    /** Prepares a download with an idle timeout. */
    @VisibleForTesting
    Download(
            URI address,
            Path part,
            WeightsCheck check,
            PretrainedWeights.Progress progress,
            Duration timeout) {
        boolean isWeb = String.valueOf(address.getScheme()).matches("(?i)https?");
        if (!isWeb || address.getHost() == null || address.getPort() > MAX_PORT) {
            throw SaccadeException.user(
                    "%s: is not an HTTP URL; expected a URL such as"
                            + " https://mirror.example.org/weights",
                    address);
        }
        if (address.getRawUserInfo() != null) {
            throw SaccadeException.user(
                            "%s: the URL contains a user name, but login is not supported; download the"
                                    + " file in another way and fetch it from its folder",
                            address.getHost())
                    .withSettings("from");
        }
        this.address = address;
        this.part = part;
        this.check = check;
        this.progress = progress;
        this.timeout = timeout;
        this.client =
                HttpClient.newBuilder()
                        .followRedirects(HttpClient.Redirect.NORMAL)
                        .connectTimeout(timeout)
                        .proxy(EnvironmentProxies.fromEnvironment())
                        .build();
    }

    /** Deletes a partial download and its {@link #version} file. */
    static void deletePartial(Path part) {
        try {
            Files.deleteIfExists(part);
            Files.deleteIfExists(version(part));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", part, WeightsCache.reason(e));
        }
    }

    /** Returns the file with URL and version of a partial download. */
    private static Path version(Path part) {
        return part.resolveSibling(part.getFileName() + ".version");
    }

    /** Downloads the missing bytes; after an I/O error, a later download resumes. */
    void run() {
        for (int attempt = 1; ; attempt++) {
            long before = present();
            try {
                if (isCompleted()) {
                    return;
                }
            } catch (ServerException e) {
                if (present() <= before || attempt == MAX_ATTEMPTS) {
                    throw failed(e, e.getMessage(), present() == 0 ? OTHER_SOURCES : RESUMABLE);
                }
            } catch (IOException e) {
                String reason = WeightsCache.reason(e);
                throw SaccadeException.io(e, "%s: cannot be written: %s", part, reason);
            } finally {
                if (present() == 0) {
                    deletePartial(part);
                }
            }
        }
    }

    private SaccadeException failed(Exception cause, String reason, String advice) {
        return SaccadeException.io(
                        cause, "%s: cannot be downloaded: %s; %s", address, reason, advice)
                .withSettings("from");
    }

    private long present() {
        return part.toFile().length();
    }

    /** Requests the missing bytes once. Returns false if the download must restart. */
    private boolean isCompleted() throws IOException {
        long present = present();
        Optional<String> known = present > 0 ? savedVersion() : Optional.empty();
        HttpResponse<InputStream> response = send(present, known);
        try (InputStream body = response.body()) {
            int status = response.statusCode();
            if (status == RANGE_NOT_SATISFIABLE && known.isPresent()) {
                deletePartial(part);
                return false;
            }
            if (status != OK && status != PARTIAL) {
                throw httpError(response);
            }
            long start = 0;
            long total = parseLength(header(response, "Content-Length").orElse(""));
            if (status == PARTIAL) {
                Matcher range = CONTENT_RANGE.matcher(header(response, "Content-Range").orElse(""));
                start = range.matches() ? parseLength(range.group(1)) : -1;
                if (known.isEmpty() || start != present) {
                    throw new ServerException("the server sent a different range than requested");
                }
                total = parseLength(range.group(2));
            }
            if (total >= 0) {
                check.requireSize(total);
                requireDiskSpace(total - start);
            }
            if (status == OK) {
                saveVersion(response);
            }
            receive(body, start, total);
            return true;
        }
    }

    private HttpResponse<InputStream> send(long present, Optional<String> known)
            throws ServerException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(address)
                        .timeout(timeout)
                        .header("User-Agent", "saccade/" + Version.saccade());
        known.ifPresent(
                version ->
                        request.header("Range", "bytes=" + present + "-")
                                .header("If-Range", version));
        return execute(
                () -> client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream()));
    }

    /** Returns a request's result; failures except interrupts throw {@link ServerException}. */
    private <T> T execute(Callable<T> request) throws ServerException {
        try {
            return request.call();
        } catch (TimeoutException e) {
            throw new ServerException("no data received for " + timeout.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "%s: the download was interrupted", address);
        } catch (Exception e) {
            throw ServerException.of(e);
        }
    }

    private static Optional<String> header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name);
    }

    /** Parses a length sent by the server; -1 if it is invalid. */
    private static long parseLength(String digits) {
        return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : -1;
    }

    private void requireDiskSpace(long bytes) throws IOException {
        long free = Files.getFileStore(part.toAbsolutePath().getParent()).getUsableSpace();
        if (bytes > free) {
            throw SaccadeException.io(
                    null,
                    "%s: needs %d more bytes, but the disk has %d bytes free; free disk space,"
                            + " or set SACCADE_CACHE to another folder",
                    part,
                    bytes,
                    free);
        }
    }

    /** Truncates the file to {@code start} bytes and appends a response body. */
    private void receive(InputStream body, long start, long total) throws IOException {
        long limit = total < 0 ? check.maxSize() : total;
        long position = start;
        try (FileChannel file = FileChannel.open(part, CREATE, WRITE, NOFOLLOW_LINKS)) {
            file.truncate(start).position(start);
            OutputStream out = Channels.newOutputStream(file);
            progress.fetched(start, total);
            byte[] buffer = new byte[BUFFER];
            for (int n = read(body, buffer); n >= 0; n = read(body, buffer)) {
                position += n;
                if (position > limit) {
                    deletePartial(part);
                    String reason = "the server sends more than the expected %d bytes";
                    throw failed(null, Text.format(reason, limit), OTHER_SOURCES);
                }
                out.write(buffer, 0, n);
                progress.fetched(position, total);
            }
            file.force(true);
        }
        if (total >= 0 && position != total) {
            throw new ServerException(Text.format("received %d of %d bytes", position, total));
        }
    }

    private int read(InputStream body, byte[] buffer) throws ServerException {
        return execute(() -> LIMITER.callWithTimeout(() -> body.read(buffer), timeout));
    }

    private Optional<String> savedVersion() throws IOException {
        Path file = version(part);
        List<String> lines = Files.exists(file) ? Files.readAllLines(file, UTF_8) : List.of();
        return lines.size() == 2 && lines.get(0).equals(address.toString())
                ? Optional.of(lines.get(1))
                : Optional.empty();
    }

    /** Stores the version; ignores weak ETags, which do not guarantee equal bytes. */
    private void saveVersion(HttpResponse<?> response) throws IOException {
        Optional<String> validator =
                header(response, "ETag")
                        .filter(tag -> !tag.startsWith("W/"))
                        .or(() -> header(response, "Last-Modified"));
        if (validator.isPresent()) {
            Files.writeString(version(part), address + "\n" + validator.get() + "\n", UTF_8);
        } else {
            Files.deleteIfExists(version(part));
        }
    }

    private static SaccadeException httpError(HttpResponse<?> response) {
        int status = response.statusCode();
        String what =
                switch (status) {
                    case 301, 302, 303, 307, 308 ->
                            "redirects to "
                                    + header(response, "Location").orElse("an unknown URL")
                                    + ", which is not followed (from https to http, or too many"
                                    + " redirects)";
                    case 401, 403 -> "denies access";
                    case 404, 410 -> "no longer has the file; see the source of the weights";
                    case 407 -> "requires proxy authentication, which is not supported";
                    case 429 -> "limits the number of requests; try again later";
                    default -> status >= 500 ? "failed; try again later" : "returned no file";
                };
        return SaccadeException.io(
                        null,
                        "%s: cannot be downloaded: the server %s (status %d); %s",
                        response.uri(),
                        what,
                        status,
                        OTHER_SOURCES)
                .withSettings("from");
    }
}

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
 * Downloads a file and resumes where an earlier attempt broke off, unless the file has changed
 * since: the rest is requested only of the version ({@code ETag} or {@code Last-Modified}) of the
 * first part (RFC 9110, 13.1.5).
 *
 * <p>Redirects are followed, but never from {@code https} to {@code http}.
 */
final class Download {

    /** Attempts of one call; the last one is the first that brings nothing. */
    private static final int MAX_ATTEMPTS = 10;

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final Pattern CONTENT_RANGE =
            Pattern.compile("bytes (\\d+)-\\d+/(\\d+|\\*)", Pattern.CASE_INSENSITIVE);

    private static final String ELSEWHERE =
            "download the file in another way and fetch it from its folder, or fetch it from a"
                    + " mirror; SACCADE_WEIGHTS sets one permanently";

    private static final String RESUMABLE =
            "what has come is kept, and the same command goes on from there";

    private static final int MAX_PORT = 0xFFFF;
    private static final int BUFFER = 1 << 16;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    /** Blocking reads of a body have no timeout of their own. */
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

    /**
     * Prepares a download.
     *
     * @param part the file to write; its content is the first part, if an earlier download left it
     * @param check checks the size
     * @throws SaccadeException of kind user, if the address or a proxy is invalid
     */
    Download(URI address, Path part, WeightsCheck check, PretrainedWeights.Progress progress) {
        this(address, part, check, progress, TIMEOUT);
    }

    /** Prepares a download that ends when the server sends nothing for some time. */
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
                    "%s: is no address of a server; expected such as"
                            + " https://mirror.example.org/weights",
                    address);
        }
        if (address.getRawUserInfo() != null) {
            throw SaccadeException.user(
                    "%s: names a user, but names and passwords are not sent; get the file in"
                            + " another way and fetch it from its folder",
                    address.getHost());
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
                        .proxy(EnvironmentProxies.here())
                        .build();
    }

    /** Deletes the files of an attempt. */
    static void forget(Path part) {
        try {
            Files.deleteIfExists(part);
            Files.deleteIfExists(version(part));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be removed: %s", part, WeightsCache.reason(e));
        }
    }

    /** Returns the file with address and version of the first part. */
    private static Path version(Path part) {
        return part.resolveSibling(part.getFileName() + ".version");
    }

    /**
     * Downloads the missing part.
     *
     * @throws SaccadeException of kind I/O, after which a later download resumes
     */
    void run() {
        for (int attempt = 1; ; attempt++) {
            long before = present();
            try {
                if (isCompleted()) {
                    return;
                }
            } catch (ServerException e) {
                if (present() <= before || attempt == MAX_ATTEMPTS) {
                    throw failed(e, e.getMessage(), present() == 0 ? ELSEWHERE : RESUMABLE);
                }
            } catch (IOException e) {
                String reason = WeightsCache.reason(e);
                throw SaccadeException.io(e, "%s: cannot be written: %s", part, reason);
            } finally {
                if (present() == 0) {
                    forget(part);
                }
            }
        }
    }

    private SaccadeException failed(Exception cause, String reason, String advice) {
        return SaccadeException.io(cause, "%s: cannot be fetched: %s; %s", address, reason, advice);
    }

    private long present() {
        return part.toFile().length();
    }

    /** Requests the file, or the rest of it, once; returns false to request all of it again. */
    private boolean isCompleted() throws IOException {
        long present = present();
        Optional<String> known = present > 0 ? knownVersion() : Optional.empty();
        HttpResponse<InputStream> response = send(present, known);
        try (InputStream body = response.body()) {
            int status = response.statusCode();
            if (status == RANGE_NOT_SATISFIABLE && known.isPresent()) {
                forget(part);
                return false;
            }
            if (status != OK && status != PARTIAL) {
                throw refused(response);
            }
            long start = 0;
            long total = number(header(response, "Content-Length").orElse(""));
            if (status == PARTIAL) {
                Matcher range = CONTENT_RANGE.matcher(header(response, "Content-Range").orElse(""));
                start = range.matches() ? number(range.group(1)) : -1;
                if (known.isEmpty() || start != present) {
                    throw new ServerException("it sent another rest than was asked for");
                }
                total = number(range.group(2));
            }
            if (total >= 0) {
                check.requireSize(total);
                requireRoom(total - start);
            }
            if (status == OK) {
                keepVersion(response);
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
        return answer(
                () -> client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream()));
    }

    /** Returns what the server sends; every failure is a fault of the server. */
    private <T> T answer(Callable<T> request) throws ServerException {
        try {
            return request.call();
        } catch (TimeoutException e) {
            throw new ServerException("nothing has come for " + timeout.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "%s: was interrupted", address);
        } catch (Exception e) {
            throw ServerException.of(e);
        }
    }

    private static Optional<String> header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name);
    }

    /** Parses a length sent by the server; -1 if it is invalid. */
    private static long number(String digits) {
        return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : -1;
    }

    private void requireRoom(long bytes) throws IOException {
        long room = Files.getFileStore(part.toAbsolutePath().getParent()).getUsableSpace();
        if (bytes > room) {
            throw SaccadeException.io(
                    null,
                    "%s: needs %d bytes more, but the disk has room for %d; make room, or name"
                            + " another folder with SACCADE_CACHE",
                    part,
                    bytes,
                    room);
        }
    }

    /** Writes a body from a position of the file on. */
    private void receive(InputStream body, long start, long total) throws IOException {
        long limit = total < 0 ? check.most() : total;
        long position = start;
        try (FileChannel file = FileChannel.open(part, CREATE, WRITE, NOFOLLOW_LINKS)) {
            file.truncate(start).position(start);
            OutputStream out = Channels.newOutputStream(file);
            progress.fetched(start, total);
            byte[] buffer = new byte[BUFFER];
            for (int n = read(body, buffer); n >= 0; n = read(body, buffer)) {
                position += n;
                if (position > limit) {
                    forget(part);
                    String reason = "it sends more than the %d bytes that are expected";
                    throw failed(null, Text.format(reason, limit), ELSEWHERE);
                }
                out.write(buffer, 0, n);
                progress.fetched(position, total);
            }
            file.force(true);
        }
        if (total >= 0 && position != total) {
            throw new ServerException(Text.format("%d bytes of %d have come", position, total));
        }
    }

    private int read(InputStream body, byte[] buffer) throws ServerException {
        return answer(() -> LIMITER.callWithTimeout(() -> body.read(buffer), timeout));
    }

    private Optional<String> knownVersion() throws IOException {
        Path file = version(part);
        List<String> lines = Files.exists(file) ? Files.readAllLines(file, UTF_8) : List.of();
        return lines.size() == 2 && lines.get(0).equals(address.toString())
                ? Optional.of(lines.get(1))
                : Optional.empty();
    }

    /** Weak tags do not guarantee that every byte is the same. */
    private void keepVersion(HttpResponse<?> response) throws IOException {
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

    private static SaccadeException refused(HttpResponse<?> response) {
        int status = response.statusCode();
        String what =
                switch (status) {
                    case 301, 302, 303, 307, 308 ->
                            "redirects to "
                                    + header(response, "Location").orElse("nowhere")
                                    + ", which is not followed: from https only to https, and not"
                                    + " for ever";
                    case 401, 403 -> "refuses to give it out";
                    case 404, 410 -> "has no such file any more; see the source of the weights";
                    case 407 -> "the proxy asks for a password, which cannot be given";
                    case 429 -> "has been asked too often; try later";
                    default -> status >= 500 ? "fails; try later" : "gives no file";
                };
        return SaccadeException.io(
                null,
                "%s: cannot be fetched: the server %s (status %d); %s",
                response.uri(),
                what,
                status,
                ELSEWHERE);
    }
}

package dev.saccade.models.zoo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.annotations.VisibleForTesting;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ServerFault;
import dev.saccade.core.Version;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Brings a file from a server, and goes on where an earlier attempt broke, unless the file has
 * changed since: the server is asked for the rest only of the version ({@code ETag} or {@code
 * Last-Modified}) that the beginning is of (RFC 9110, 13.1.5).
 *
 * <p>Redirections are followed, but never from {@code https} to {@code http}.
 */
final class Download {

    /** Of one call; each must bring something, or it is the last. */
    private static final int MOST_ATTEMPTS = 10;

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final Pattern CONTENT_RANGE =
            Pattern.compile("bytes (\\d+)-\\d+/(\\d+|\\*)", Pattern.CASE_INSENSITIVE);

    private static final String ELSEWHERE =
            "download the file in another way and fetch it from its folder, or fetch it from a"
                    + " mirror; SACCADE_WEIGHTS sets one permanently";

    private static final int MOST_PORT = 0xFFFF;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    private final URI address;
    private final Path part;
    private final WeightsCheck check;
    private final PretrainedWeights.Progress progress;
    private final Duration patience;
    private final HttpClient client;

    /**
     * Prepares to fetch.
     *
     * @param part takes the content; what it holds now is the beginning, if it was left by an
     *     earlier download
     * @param check says which sizes are to be
     * @throws SaccadeException of kind user, if the address or a proxy cannot be used
     */
    Download(URI address, Path part, WeightsCheck check, PretrainedWeights.Progress progress) {
        this(address, part, check, progress, PATIENCE);
    }

    /** Likewise, but gives up on a server that sends nothing for some time. */
    @VisibleForTesting
    Download(
            URI address,
            Path part,
            WeightsCheck check,
            PretrainedWeights.Progress progress,
            Duration patience) {
        boolean isWeb = String.valueOf(address.getScheme()).matches("(?i)https?");
        if (!isWeb || address.getHost() == null || address.getPort() > MOST_PORT) {
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
        this.patience = patience;
        this.client =
                HttpClient.newBuilder()
                        .followRedirects(HttpClient.Redirect.NORMAL)
                        .connectTimeout(patience)
                        .proxy(EnvironmentProxies.here())
                        .build();
    }

    /** Removes what an attempt has left. */
    static void forget(Path part) {
        try {
            Files.deleteIfExists(part);
            Files.deleteIfExists(version(part));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be removed: %s", part, WeightsCache.reason(e));
        }
    }

    /** Returns the file that says which version of which address the beginning is of. */
    private static Path version(Path part) {
        return part.resolveSibling(part.getFileName() + ".version");
    }

    /**
     * Fetches all that is missing.
     *
     * @throws SaccadeException of kind I/O, after which a later download goes on where it broke
     */
    void run() {
        for (int attempt = 1; ; attempt++) {
            long before = present();
            try {
                if (isDone()) {
                    return;
                }
            } catch (IOException e) {
                if (present() <= before || attempt == MOST_ATTEMPTS) {
                    throw SaccadeException.io(
                            e,
                            "%s: cannot be fetched: %s; %s",
                            address,
                            ServerFault.of(e).getMessage(),
                            present() == 0
                                    ? ELSEWHERE
                                    : "what has come is kept, and the same command goes on from"
                                            + " there");
                }
            } finally {
                if (present() == 0) {
                    forget(part);
                }
            }
        }
    }

    private long present() {
        try {
            return Files.exists(part) ? Files.size(part) : 0;
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    /** Asks once, for all or for the rest, and returns whether that was an answer. */
    private boolean isDone() throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(address)
                        .timeout(patience)
                        .header("User-Agent", "saccade/" + Version.saccade());
        long present = present();
        Optional<String> known = knownVersion();
        boolean isRest = present > 0 && known.isPresent();
        if (isRest) {
            request.header("Range", "bytes=" + present + "-").header("If-Range", known.get());
        }
        try (FileChannel channel =
                FileChannel.open(
                        part,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS)) {
            FileBody body = new FileBody(channel, progress);
            HttpResponse<Void> response =
                    await(
                            client.sendAsync(
                                    request.build(),
                                    info -> begin(info, body, isRest ? present : 0)),
                            body);
            if (response.statusCode() == RANGE_NOT_SATISFIABLE && isRest) {
                // What is here is as much as there is, or more; all of it is asked for once more.
                channel.truncate(0);
                return false;
            }
            requireContent(response);
            body.requireAll();
            channel.force(true);
            return true;
        }
    }

    /** Decides by its headers where an answer goes. */
    private HttpResponse.BodySubscriber<Void> begin(
            HttpResponse.ResponseInfo info, FileBody body, long present) {
        int status = info.statusCode();
        if (status != OK && status != PARTIAL) {
            return body.none();
        }
        long start = 0;
        long total = number(info.headers().firstValue("Content-Length").orElse(""));
        if (status == PARTIAL) {
            Matcher range =
                    CONTENT_RANGE.matcher(info.headers().firstValue("Content-Range").orElse(""));
            start = range.matches() ? number(range.group(1)) : -1;
            if (start != present) {
                return body.failed(new ServerFault("it sent another rest than was asked for"));
            }
            total = number(range.group(2));
        }
        try {
            requireRoom(total, start);
            body.begin(start, total, check.most());
            if (status == OK) {
                keepVersion(info);
            }
        } catch (SaccadeException | IOException e) {
            return body.failed(e);
        }
        return body;
    }

    /** Returns a length that a server tells; -1 if that is none, or one that nobody has. */
    private static long number(String told) {
        return told.matches("\\d{1,18}") ? Long.parseLong(told) : -1;
    }

    private void requireRoom(long total, long start) throws IOException {
        if (total < 0) {
            return;
        }
        check.requireSize(total);
        long room = Files.getFileStore(part.toAbsolutePath().getParent()).getUsableSpace();
        if (total - start > room) {
            throw SaccadeException.io(
                    null,
                    "%s: needs %d bytes more, but the disk has room for %d; make room, or name"
                            + " another folder with SACCADE_CACHE",
                    part,
                    total - start,
                    room);
        }
    }

    private Optional<String> knownVersion() throws IOException {
        Path file = version(part);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        List<String> lines = Files.readAllLines(file, UTF_8);
        return lines.size() == 2 && lines.get(0).equals(address.toString())
                ? Optional.of(lines.get(1))
                : Optional.empty();
    }

    /** Weak tags do not tell whether every byte is the same. */
    private void keepVersion(HttpResponse.ResponseInfo info) throws IOException {
        Optional<String> validator =
                info.headers()
                        .firstValue("ETag")
                        .filter(tag -> !tag.startsWith("W/"))
                        .or(() -> info.headers().firstValue("Last-Modified"));
        if (validator.isPresent()) {
            Files.writeString(version(part), address + "\n" + validator.get() + "\n", UTF_8);
        } else {
            Files.deleteIfExists(version(part));
        }
    }

    private <T> T await(CompletableFuture<T> answer, FileBody body) throws IOException {
        long before = -1;
        try {
            while (true) {
                try {
                    return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    if (body.received() == before) {
                        answer.cancel(true);
                        throw new ServerFault(
                                "nothing has come for " + patience.toSeconds() + " s");
                    }
                    before = body.received();
                }
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SaccadeException refusal) {
                throw refusal;
            }
            if (e.getCause() instanceof FileBody.Unwritable failure) {
                throw unwritable(failure.getCause());
            }
            if (e.getCause() instanceof FileBody.Excess excess) {
                forget(part);
                throw SaccadeException.io(
                        e,
                        "%s: cannot be fetched: %s; %s",
                        address,
                        excess.getMessage(),
                        ELSEWHERE);
            }
            throw ServerFault.of(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            answer.cancel(true);
            throw SaccadeException.io(e, "%s: was interrupted", address);
        } finally {
            body.discard();
        }
    }

    private SaccadeException unwritable(IOException e) {
        return SaccadeException.io(e, "%s: cannot be written: %s", part, WeightsCache.reason(e));
    }

    private void requireContent(HttpResponse<?> response) {
        int status = response.statusCode();
        if (status == OK || status == PARTIAL) {
            return;
        }
        String what =
                switch (status) {
                    case 301, 302, 303, 307, 308 ->
                            "redirects to "
                                    + response.headers().firstValue("Location").orElse("nowhere")
                                    + ", which is not followed: from https only to https, and not"
                                    + " for ever";
                    case 401, 403 -> "refuses to give it out";
                    case 404, 410 -> "has no such file any more; see the source of the weights";
                    case 407 -> "the proxy asks for a password, which cannot be given";
                    case 429 -> "has been asked too often; try later";
                    default -> status >= 500 ? "fails; try later" : "gives no file";
                };
        throw SaccadeException.io(
                null,
                "%s: cannot be fetched: the server %s (status %d); %s",
                response.uri(),
                what,
                status,
                ELSEWHERE);
    }
}

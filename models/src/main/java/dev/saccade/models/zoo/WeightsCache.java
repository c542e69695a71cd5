package dev.saccade.models.zoo;

import ai.djl.util.Utils;

import com.google.common.base.Strings;

import dev.saccade.core.SaccadeException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Cache folder of published weights. Incomplete files are named {@code NAME.part}; a lock file
 * prevents parallel downloads of a file.
 */
final class WeightsCache {

    private static final Logger log = LoggerFactory.getLogger(WeightsCache.class);

    private static final String CACHE = "SACCADE_CACHE";
    private static final String MIRROR = "SACCADE_WEIGHTS";

    /** Excludes other threads of this process; file locks exclude other processes. */
    private static final Object IN_PROCESS = new Object();

    private final Path folder;

    private WeightsCache(Path folder) {
        this.folder = folder;
    }

    static WeightsCache forUser() {
        Optional<Path> named = setting(CACHE).map(folder -> path(CACHE, folder));
        return new WeightsCache(named.orElseGet(WeightsCache::userCache).resolve("weights"));
    }

    private static Path userCache() {
        String folder = Strings.nullToEmpty(System.getenv("XDG_CACHE_HOME"));
        Path caches =
                folder.isEmpty()
                        ? Path.of(System.getProperty("user.home"), ".cache")
                        : Path.of(folder);
        return caches.resolve("saccade");
    }

    /** Returns the folder or URL that replaces the authors' hosts, if one is set. */
    static Optional<String> mirror() {
        return setting(MIRROR);
    }

    private static Optional<String> setting(String variable) {
        return Optional.of(Utils.getEnvOrSystemProperty(variable, "").strip())
                .filter(value -> !value.isEmpty());
    }

    private static Path path(String setting, String value) {
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw SaccadeException.user("%s=%s: is not a valid path", setting, value);
        }
    }

    private static boolean isAddress(String mirror) {
        return mirror.matches("(?i)[a-z][a-z0-9+.-]*://.*");
    }

    /** Returns the path of a file, which may not exist. */
    Path file(String name) {
        return folder.resolve(name);
    }

    /** Returns a file in the cache or in the mirror folder, if it exists. */
    Optional<Path> find(String name) {
        Optional<Path> mirrored =
                mirror().filter(mirror -> !isAddress(mirror))
                        .map(mirror -> path(MIRROR, mirror).resolve(name));
        return Stream.concat(Stream.of(file(name)), mirrored.stream())
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /**
     * Returns a cached file; downloads it from {@code mirror} or the publisher if it is missing.
     */
    Path fetch(
            PretrainedWeights weights,
            Optional<String> mirror,
            PretrainedWeights.Progress progress) {
        Path target = file(weights.file());
        WeightsCheck check = new WeightsCheck(weights);
        if (Files.exists(target)) {
            check.requirePublished(target);
            return target;
        }
        if (mirror.isEmpty() && weights.url().isEmpty()) {
            weights.require();
        }
        synchronized (IN_PROCESS) {
            try {
                Files.createDirectories(folder);
                Path lock = file("." + target.getFileName() + ".lock");
                try (FileChannel channel =
                                FileChannel.open(
                                        lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                        FileLock fileLock = lock(channel, target)) {
                    log.debug("downloading weights file={} lock={}", target, fileLock);
                    // Another process may have downloaded the file in the meantime.
                    if (!Files.exists(target)) {
                        download(weights, mirror, check, progress);
                    }
                    return target;
                }
            } catch (IOException e) {
                throw SaccadeException.io(
                        e,
                        "%s: cannot be written: %s; set %s to another folder",
                        folder,
                        reason(e),
                        CACHE);
            }
        }
    }

    private void download(
            PretrainedWeights weights,
            Optional<String> mirror,
            WeightsCheck check,
            PretrainedWeights.Progress progress)
            throws IOException {
        Path target = file(weights.file());
        Path part = file(weights.file() + ".part");
        String from;
        if (mirror.isPresent() && !isAddress(mirror.get())) {
            Path source = path("mirror", mirror.get()).resolve(weights.file());
            copy(source, part, check, progress);
            from = source.toString();
        } else {
            URI address =
                    mirror.map(base -> resolve(base, weights.file()))
                            .orElseGet(() -> weights.url().orElseThrow());
            new Download(address, part, check, progress).run();
            from = address.toString();
        }
        try {
            check.requirePublished(part);
        } catch (SaccadeException e) {
            Download.deletePartial(part);
            throw SaccadeException.io(
                    e,
                    "%s: the file from %s differs from the published file and was deleted: %s",
                    weights.name(),
                    from,
                    e.getMessage());
        }
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        Download.deletePartial(part);
    }

    private static URI resolve(String base, String file) {
        try {
            return URI.create(base.endsWith("/") ? base + file : base + "/" + file);
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user(
                    "%s: is neither a folder nor a URL; expected a URL such as"
                            + " https://mirror.example.org/weights",
                    base);
        }
    }

    private static void copy(
            Path source, Path part, WeightsCheck check, PretrainedWeights.Progress progress) {
        if (!Files.isRegularFile(source)) {
            throw SaccadeException.user("%s: no such file", source);
        }
        try {
            long size = Files.size(source);
            check.requireSize(size);
            Download.deletePartial(part);
            Files.copy(source, part);
            progress.fetched(size, size);
        } catch (IOException e) {
            Download.deletePartial(part);
            throw SaccadeException.io(e, "%s: cannot be copied to %s: %s", source, part, reason(e));
        }
    }

    private static FileLock lock(FileChannel channel, Path target) throws IOException {
        FileLock free = channel.tryLock();
        if (free != null) {
            return free;
        }
        log.warn("another process is downloading this file; waiting for it file={}", target);
        return channel.lock();
    }

    static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        } else if (e instanceof NoSuchFileException) {
            return "no such file or folder";
        } else if (e instanceof FileAlreadyExistsException) {
            return "a file exists where a folder is needed";
        }
        return e instanceof FileSystemException fault && fault.getReason() != null
                ? fault.getReason()
                : e.getMessage();
    }
}

package dev.saccade.checkpoint;

import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Opens and saves checkpoint files. When opening, detects the format from the content. */
public final class Checkpoints {

    private static final int SNIFFED = 1024;
    private static final int TAR_MAGIC_OFFSET = 257;

    private Checkpoints() {}

    /**
     * Opens a safetensors or PyTorch file; tensors are read on use.
     *
     * @throws SaccadeException of kind user, if the file has another format, is damaged, or
     *     contains code; of kind I/O, if it cannot be read or changes meanwhile
     */
    public static Checkpoint open(Path file) {
        if (AtomicFile.isTemporary(file)) {
            throw SaccadeException.user(
                    "%s: is a temporary file of a killed process; delete it and use a checkpoint",
                    file);
        }
        return CheckpointFile.read(file, Checkpoints::open);
    }

    private static Checkpoint open(CheckpointFile file) {
        if (file.size() == 0) {
            throw new MalformedException("the file is empty");
        }
        ByteBuffer start = file.header(0, Math.min(file.size(), SNIFFED));
        if (isSafeTensors(start)) {
            return SafeTensors.read(file);
        }
        byte[] bytes = new byte[start.remaining()];
        start.get(bytes);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        if (text.startsWith("PK") || text.startsWith("\u0080")) {
            return TorchFile.read(file, false);
        }
        throw new MalformedException("not a checkpoint: %s", guess(text));
    }

    private static boolean isSafeTensors(ByteBuffer start) {
        if (start.limit() <= Long.BYTES) {
            return false;
        }
        long header = start.getLong(0);
        return header >= 2 && header <= SafeTensors.MAX_HEADER && start.get(Long.BYTES) == '{';
    }

    private static String guess(String text) {
        String lower = text.stripLeading().toLowerCase(Locale.ROOT);
        if (lower.startsWith("<!doctype html") || lower.startsWith("<html")) {
            return "it is a web page, such as the error or login page of a failed download";
        }
        if (lower.startsWith("version https://git-lfs")) {
            return "it is a Git LFS pointer; download the file with git lfs pull";
        }
        boolean isTar = text.startsWith("ustar", TAR_MAGIC_OFFSET);
        if (isTar) {
            return "it is a tar file; if PyTorch before 0.1.10 wrote it, load it in PyTorch and"
                    + " save it again";
        }
        return "expected a safetensors or PyTorch file";
    }

    /** Returns the hexadecimal SHA-256 of a file. */
    public static String checksum(Path file) {
        try {
            return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /**
     * Saves a checkpoint as {@code .safetensors} or, for PyTorch, {@code .pth} or {@code .pt}.
     *
     * @throws SaccadeException of kind user for other extensions; of kind I/O, if writing fails
     *     (keeps the old file)
     */
    public static void save(Path file, Checkpoint checkpoint) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".safetensors")) {
            SafeTensors.write(file, checkpoint);
        } else if (List.of("pth", "pt").contains(name.substring(name.lastIndexOf('.') + 1))) {
            TorchFile.write(file, checkpoint);
        } else {
            throw SaccadeException.user(
                    "%s: unsupported extension; expected .safetensors, .pth or .pt", file);
        }
    }
}

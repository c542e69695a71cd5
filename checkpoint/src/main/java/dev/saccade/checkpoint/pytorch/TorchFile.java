package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Files of {@code torch.save} (zip since 1.6, and the older format), read without executing code.
 *
 * <p>The weights may be under any key; see {@link TorchWeights}. A leading {@code module.} or
 * {@code _orig_mod.} of all names is removed. Optimizer states are skipped. Simple values under
 * {@code meta} and class names become metadata; see {@link TorchMetadata}. Pickled NumPy arrays are
 * also supported.
 */
public final class TorchFile {

    private static final int ZIP_MAGIC = 'P' | 'K' << 8;

    /** Prefixes of data-parallel and compiled modules. */
    private static final List<String> WRAPPERS = List.of("module.", "_orig_mod.");

    /** Maximum ratio of tensor bytes to file bytes; tensors may share storages. */
    private static final int MAX_SHARING = 4;

    private static final String EXTRA = "/extra/";

    /** Larger extra files are not texts and are skipped. */
    private static final int MAX_EXTRA = 1 << 20;

    private TorchFile() {}

    /**
     * Opens a PyTorch file; weights are read on use.
     *
     * @throws SaccadeException of kind user, if the file has another format, is damaged, or would
     *     execute code (lists the names); of kind I/O, if it cannot be read or changes meanwhile
     */
    public static Checkpoint read(Path file) {
        return CheckpointFile.read(file, content -> read(content, false));
    }

    /** Opens the averaged weights of a file, such as {@code state_dict_ema}. */
    public static Checkpoint readAveraged(Path file) {
        return CheckpointFile.read(file, content -> read(content, true));
    }

    public static Checkpoint read(CheckpointFile file, boolean averaged) {
        boolean isZip = file.header(0, 2).getShort() == ZIP_MAGIC;
        TorchContent content = isZip ? TorchContent.ofZip(file) : TorchContent.ofPickle(file);
        if (!(content.root() instanceof Map<?, ?> root)) {
            throw new MalformedException("contains no dict of tensors");
        }
        TorchWeights weights = TorchWeights.of(root, averaged);
        Map<String, StoredArray> found = weights.arrays();
        checkSharing(found, file.size());
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        String wrapper = wrapper(found.keySet());
        found.forEach(
                (name, array) ->
                        tensors.put(name.substring(wrapper.length()), array.read(file, content)));
        return new Checkpoint(tensors, TorchMetadata.of(root), weights.notes());
    }

    /** Returns the common wrapper prefix of all names. */
    private static String wrapper(Set<String> names) {
        for (String wrapper : WRAPPERS) {
            if (names.stream().allMatch(name -> name.startsWith(wrapper))) {
                Set<String> inner =
                        names.stream()
                                .map(name -> name.substring(wrapper.length()))
                                .collect(Collectors.toSet());
                return wrapper + wrapper(inner);
            }
        }
        return "";
    }

    private static void checkSharing(Map<String, StoredArray> arrays, long size) {
        long bytes = 0;
        for (StoredArray array : arrays.values()) {
            bytes = Math.addExact(bytes, array.span());
        }
        if (bytes / MAX_SHARING > size) {
            throw new MalformedException(
                    "rejected: %s bytes of tensors in a file of %s bytes", bytes, size);
        }
    }

    /**
     * Writes a file for {@code torch.load(file, weights_only=True)}: tensors under {@code
     * state_dict}, metadata under {@code meta}.
     *
     * @throws SaccadeException of kind I/O; the old file is unchanged
     */
    public static void write(Path file, Checkpoint checkpoint) {
        AtomicFile.write(file, channel -> TorchWriter.write(channel, checkpoint));
    }

    /**
     * Writes a TorchScript module for {@code torch.jit.load} and DJL, atomically.
     *
     * @param functions TorchScript functions of {@code self: __torch__.M}, such as {@code forward}
     * @param attributes tensors by attribute name
     * @param extraFiles texts by name, for {@code _extra_files} of {@code torch.jit.load}
     */
    public static void writeScript(
            Path file,
            String functions,
            Map<String, Tensor> attributes,
            Map<String, String> extraFiles) {
        StringBuilder code = new StringBuilder("class M(Module):\n  __parameters__ = []\n");
        code.append("  __buffers__ = [");
        attributes.keySet().forEach(name -> code.append('"').append(name).append("\", "));
        code.append("]\n  training : bool\n");
        attributes.keySet().forEach(name -> code.append("  ").append(name).append(" : Tensor\n"));
        code.append(functions.strip().indent(2));
        AtomicFile.write(
                file,
                channel -> TorchWriter.write(channel, code.toString(), attributes, extraFiles));
    }

    /**
     * Reads the extra files of a TorchScript module, without its code; empty for other files.
     *
     * @throws SaccadeException of kind user, if the file is damaged
     */
    public static Optional<Map<String, String>> readExtraFiles(Path file) {
        return CheckpointFile.read(file, TorchFile::extraFiles);
    }

    private static Optional<Map<String, String>> extraFiles(CheckpointFile file) {
        if (file.size() < 2 || file.header(0, 2).getShort() != ZIP_MAGIC) {
            return Optional.empty();
        }
        Map<String, StoredZip.Entry> entries = StoredZip.read(file);
        if (entries.keySet().stream().noneMatch(name -> name.contains("/code/"))) {
            return Optional.empty();
        }
        Map<String, String> extra = new TreeMap<>();
        for (StoredZip.Entry entry : entries.values()) {
            int folder = entry.name().indexOf(EXTRA);
            if (folder >= 0 && entry.size() <= MAX_EXTRA) {
                ByteBuffer content = file.header(entry.begin(entry.size()), entry.size());
                extra.put(
                        entry.name().substring(folder + EXTRA.length()),
                        StandardCharsets.UTF_8.decode(content).toString());
            }
        }
        return Optional.of(extra);
    }
}

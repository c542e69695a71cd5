package dev.saccade.checkpoint;

import dev.saccade.core.SaccadeException;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * PyTorch's {@code .pth} files: those of {@code torch.save} since 1.6 (zip) and before it, read
 * without executing anything they contain.
 *
 * <p>The weights are what the file holds under {@code state_dict} or {@code model}, else the file's
 * own entries; a leading {@code module.} of all names is dropped. Optimizer states and the like are
 * passed over; simple values under {@code meta} become metadata, lists of texts as JSON.
 */
public final class TorchFile {

    private static final int ZIP_MAGIC = 'P' | 'K' << 8;
    private static final String MODULE = "module.";

    /** How often the bytes of a file may be used by tensors that share storages. */
    private static final int MAX_SHARING = 4;

    private TorchFile() {}

    /**
     * Returns the weights in a file; they are read when they are used.
     *
     * @throws SaccadeException of kind user, if the file is no PyTorch checkpoint, is truncated or
     *     damaged, or wants code to be run, which lists the names it wants to run; of kind I/O, if
     *     it cannot be read or changes meanwhile
     */
    public static Checkpoint read(Path file) {
        return CheckpointFile.read(file, content -> read(content, false));
    }

    /** Returns the averaged weights that a file holds under {@code state_dict_ema}. */
    public static Checkpoint readAveraged(Path file) {
        return CheckpointFile.read(file, content -> read(content, true));
    }

    static Checkpoint read(CheckpointFile file, boolean averaged) {
        boolean isZip = file.description(0, 2).getShort() == ZIP_MAGIC;
        TorchContent content = isZip ? TorchContent.ofZip(file) : TorchContent.ofLegacy(file);
        if (!(content.root() instanceof Map<?, ?> root)) {
            throw new MalformedException("it holds no dict of tensors");
        }
        Map<String, TorchTensor> found = tensors(weights(root, averaged));
        if (found.isEmpty()) {
            throw new MalformedException("it holds no tensors");
        }
        checkSharing(found, file.size());
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        boolean isWrapped = found.keySet().stream().allMatch(name -> name.startsWith(MODULE));
        found.forEach(
                (name, tensor) ->
                        tensors.put(
                                isWrapped ? name.substring(MODULE.length()) : name,
                                tensor.read(file, content.places().applyAsLong(tensor.storage()))));
        return new Checkpoint(tensors, TorchMetadata.of(root));
    }

    private static Map<?, ?> weights(Map<?, ?> root, boolean averaged) {
        if (averaged) {
            return dict(root, "state_dict_ema")
                    .orElseThrow(() -> new MalformedException("it holds no state_dict_ema"));
        }
        Optional<Map<?, ?>> wrapped = dict(root, "state_dict").or(() -> dict(root, "model"));
        return wrapped.isPresent() ? wrapped.get() : root;
    }

    private static Optional<Map<?, ?>> dict(Map<?, ?> root, String key) {
        return root.get(key) instanceof Map<?, ?> dict ? Optional.of(dict) : Optional.empty();
    }

    private static Map<String, TorchTensor> tensors(Map<?, ?> dict) {
        Map<String, TorchTensor> tensors = new LinkedHashMap<>();
        dict.forEach(
                (key, value) -> {
                    if (key instanceof String name && value instanceof TorchTensor tensor) {
                        tensors.put(name, tensor);
                    }
                });
        return tensors;
    }

    private static void checkSharing(Map<String, TorchTensor> tensors, long size) {
        long bytes = 0;
        for (TorchTensor tensor : tensors.values()) {
            bytes = Math.addExact(bytes, tensor.span());
        }
        if (bytes / MAX_SHARING > size) {
            throw new MalformedException(
                    "refused: " + bytes + " bytes of tensors in a file of " + size);
        }
    }

    /**
     * Writes a checkpoint that {@code torch.load(file, weights_only=True)} reads: the tensors under
     * {@code state_dict}, the metadata under {@code meta}.
     *
     * @throws SaccadeException of kind I/O, after which an old file of that name is as it was
     */
    public static void write(Path file, Checkpoint checkpoint) {
        AtomicFile.write(file, channel -> TorchWriter.write(channel, checkpoint));
    }
}

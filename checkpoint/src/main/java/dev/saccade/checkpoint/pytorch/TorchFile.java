package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * PyTorch's {@code .pth} files: those of {@code torch.save} since 1.6 (zip) and before it, read
 * without executing anything they contain.
 *
 * <p>The weights may be under any key, see {@link TorchWeights}; a leading {@code module.} or
 * {@code _orig_mod.} of all names is dropped. Optimizer states are skipped. Simple values under
 * {@code meta} and class names become metadata, see {@link TorchMetadata}. Pickles of NumPy arrays
 * are read as well.
 */
public final class TorchFile {

    private static final int ZIP_MAGIC = 'P' | 'K' << 8;

    /** Prefixes of data-parallel and compiled modules. */
    private static final List<String> WRAPPERS = List.of("module.", "_orig_mod.");

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

    /** Returns the averaged weights of a file, such as those under {@code state_dict_ema}. */
    public static Checkpoint readAveraged(Path file) {
        return CheckpointFile.read(file, content -> read(content, true));
    }

    public static Checkpoint read(CheckpointFile file, boolean averaged) {
        boolean isZip = file.description(0, 2).getShort() == ZIP_MAGIC;
        TorchContent content = isZip ? TorchContent.ofZip(file) : TorchContent.ofPickle(file);
        if (!(content.root() instanceof Map<?, ?> root)) {
            throw new MalformedException("it holds no dict of tensors");
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

    /** Returns the prefixes that PyTorch's wrappers of modules give to all names. */
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
                    "refused: %s bytes of tensors in a file of %s", bytes, size);
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

    /**
     * Writes a module of TorchScript, which {@code torch.jit.load} and DJL read.
     *
     * @param file whole or not at all
     * @param functions lines of TorchScript that define functions of {@code self: __torch__.M},
     *     such as {@code forward}
     * @param attributes tensors by the names that the functions know them by
     * @throws SaccadeException of kind I/O, if it cannot be written
     */
    public static void writeScript(Path file, String functions, Map<String, Tensor> attributes) {
        StringBuilder code = new StringBuilder("class M(Module):\n  __parameters__ = []\n");
        code.append("  __buffers__ = [");
        attributes.keySet().forEach(name -> code.append('"').append(name).append("\", "));
        code.append("]\n  training : bool\n");
        attributes.keySet().forEach(name -> code.append("  ").append(name).append(" : Tensor\n"));
        code.append(functions.strip().indent(2));
        AtomicFile.write(file, channel -> TorchWriter.write(channel, code.toString(), attributes));
    }
}

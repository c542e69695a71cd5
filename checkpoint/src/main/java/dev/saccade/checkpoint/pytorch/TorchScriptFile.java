package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import java.nio.file.Path;
import java.util.Map;

/** Writes a module of TorchScript, which {@code torch.jit.load} and DJL's PyTorch engine read. */
public final class TorchScriptFile {

    private TorchScriptFile() {}

    /**
     * Writes a module.
     *
     * @param file whole or not at all
     * @param functions lines of TorchScript that define functions of {@code self: __torch__.M},
     *     such as {@code forward}
     * @param attributes tensors by the names that the functions know them by
     * @throws SaccadeException of kind I/O, if it cannot be written
     */
    public static void write(Path file, String functions, Map<String, Tensor> attributes) {
        StringBuilder code = new StringBuilder("class M(Module):\n  __parameters__ = []\n");
        code.append("  __buffers__ = [");
        attributes.keySet().forEach(name -> code.append('"').append(name).append("\", "));
        code.append("]\n  training : bool\n");
        attributes.keySet().forEach(name -> code.append("  ").append(name).append(" : Tensor\n"));
        code.append(functions.strip().indent(2));
        AtomicFile.write(file, channel -> TorchWriter.write(channel, code.toString(), attributes));
    }
}

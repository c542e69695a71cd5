package dev.saccade.core.distributed;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;

/** NCCL for collectives between GPUs; its native library requires libtorch for CUDA. */
final class Nccl {

    private static final OperatorLibrary LIBRARY =
            new OperatorLibrary(Kernels.class, "saccade_nccl", Nccl::version);

    private Nccl() {}

    private static String version() {
        return "NCCL " + (int) Script.evaluate("ops.saccade.nccl_version()");
    }

    /** Returns whether NCCL is available, and the reason if not. */
    static OperatorLibrary.Status status() {
        return LIBRARY.status();
    }
}

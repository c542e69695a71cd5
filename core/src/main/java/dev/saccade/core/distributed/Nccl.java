package dev.saccade.core.distributed;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;

/**
 * NCCL, by which ranks sum and gather what lies on GPUs without a way through the processors; a
 * library of its own, since only libtorch for CUDA can load it.
 */
final class Nccl {

    private static final OperatorLibrary LIBRARY =
            new OperatorLibrary(Kernels.class, "saccade_nccl", Nccl::greeting);

    private Nccl() {}

    private static String greeting() {
        return "NCCL " + (int) Script.evaluate("ops.saccade.nccl_version()");
    }

    /** Returns whether it is there, and why. */
    static OperatorLibrary.Status status() {
        return LIBRARY.status();
    }
}

package dev.saccade.eval;

/** Thrown by a progress callback to stop an evaluation on all ranks. */
public final class EvaluationInterrupted extends RuntimeException {

    private static final long serialVersionUID = 1L;
}

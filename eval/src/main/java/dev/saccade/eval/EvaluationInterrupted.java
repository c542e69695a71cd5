package dev.saccade.eval;

/** Thrown by what an evaluation tells its progress, to end it; ends it on all ranks. */
public final class EvaluationInterrupted extends RuntimeException {

    private static final long serialVersionUID = 1L;
}

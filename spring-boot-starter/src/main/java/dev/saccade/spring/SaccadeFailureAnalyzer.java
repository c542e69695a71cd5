package dev.saccade.spring;

import dev.saccade.core.SaccadeException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports wrong properties and checkpoints without a stack trace. */
final class SaccadeFailureAnalyzer extends AbstractFailureAnalyzer<SaccadeException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SaccadeException cause) {
        return cause.kind() == SaccadeException.Kind.INTERNAL
                ? null
                : new FailureAnalysis(
                        cause.getMessage(), "Correct the properties saccade.* or the file.", cause);
    }
}

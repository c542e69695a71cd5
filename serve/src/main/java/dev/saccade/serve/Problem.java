package dev.saccade.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.Printable;

import org.eclipse.jetty.http.HttpStatus;

import java.util.Optional;

/**
 * Why a request, or a photograph of it, is not answered; RFC 9457.
 *
 * @param type {@code about:blank}: the status says it all
 * @param title the name of the status
 * @param status of HTTP
 * @param detail what is wrong, and what to do
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Problem(String type, String title, int status, String detail) {

    static final String MEDIA_TYPE = "application/problem+json";

    static Problem of(int status, String detail) {
        return new Problem("about:blank", HttpStatus.getMessage(status), status, detail);
    }

    /** What a request is ended with that is not answered as it asks for. */
    static final class Refusal extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient Problem problem;
        private final int retryAfterSeconds;

        private Refusal(Problem problem, int retryAfterSeconds) {
            super(problem.detail());
            this.problem = problem;
            this.retryAfterSeconds = retryAfterSeconds;
        }

        Problem problem() {
            return problem;
        }

        Optional<Integer> retryAfterSeconds() {
            return retryAfterSeconds > 0 ? Optional.of(retryAfterSeconds) : Optional.empty();
        }
    }

    @FormatMethod
    static Refusal refusal(int status, @FormatString String format, Object... args) {
        return new Refusal(of(status, Printable.format(format, args)), 0);
    }

    @FormatMethod
    static Refusal badRequest(@FormatString String format, Object... args) {
        return new Refusal(of(HttpStatus.BAD_REQUEST_400, Printable.format(format, args)), 0);
    }

    /** Returns that there is no room now, and when to ask again. */
    @FormatMethod
    static Refusal busy(int retryAfterSeconds, @FormatString String format, Object... args) {
        return new Refusal(
                of(HttpStatus.SERVICE_UNAVAILABLE_503, Printable.format(format, args)),
                retryAfterSeconds);
    }
}

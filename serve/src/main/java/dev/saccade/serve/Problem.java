package dev.saccade.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.Printable;

import org.eclipse.jetty.http.HttpStatus;

import java.util.Optional;

/** An error response (RFC 9457); the title is the text of the HTTP status. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Problem(String type, String title, int status, String detail) {

    static final String MEDIA_TYPE = "application/problem+json";

    static Problem of(int status, String detail) {
        return new Problem("about:blank", HttpStatus.getMessage(status), status, detail);
    }

    static final class HttpException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient Problem problem;
        private final int retryAfterSeconds;

        private HttpException(Problem problem, int retryAfterSeconds) {
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
    static HttpException exception(int status, @FormatString String format, Object... args) {
        return new HttpException(of(status, Printable.format(format, args)), 0);
    }

    @FormatMethod
    static HttpException badRequest(@FormatString String format, Object... args) {
        return new HttpException(of(HttpStatus.BAD_REQUEST_400, Printable.format(format, args)), 0);
    }

    /** Returns an error with status 503 and {@code Retry-After}. */
    @FormatMethod
    static HttpException busy(int retryAfterSeconds, @FormatString String format, Object... args) {
        return new HttpException(
                of(HttpStatus.SERVICE_UNAVAILABLE_503, Printable.format(format, args)),
                retryAfterSeconds);
    }
}

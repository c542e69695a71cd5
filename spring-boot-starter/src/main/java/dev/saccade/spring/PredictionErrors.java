package dev.saccade.spring;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.QueueFullException;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Converts prediction errors to responses: 422 for invalid images, 503 for a full queue. */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class PredictionErrors {

    @ExceptionHandler
    ResponseEntity<ProblemDetail> respond(SaccadeException error) {
        if (OutOfMemory.reason(error).isPresent()) {
            return response(HttpStatus.SERVICE_UNAVAILABLE, error, 1);
        }
        if (error.kind() == SaccadeException.Kind.USER) {
            return response(HttpStatus.UNPROCESSABLE_ENTITY, error, 0);
        }
        throw error;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> respond(QueueFullException error) {
        return response(HttpStatus.SERVICE_UNAVAILABLE, error, error.retryAfterSeconds());
    }

    private static ResponseEntity<ProblemDetail> response(
            HttpStatus status, RuntimeException error, int retryAfterSeconds) {
        ResponseEntity.BodyBuilder response = ResponseEntity.status(status);
        if (retryAfterSeconds > 0) {
            response.header(HttpHeaders.RETRY_AFTER, Integer.toString(retryAfterSeconds));
        }
        return response.body(ProblemDetail.forStatusAndDetail(status, error.getMessage()));
    }
}

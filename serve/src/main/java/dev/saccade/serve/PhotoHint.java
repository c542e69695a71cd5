package dev.saccade.serve;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.MimeTypes;
import org.eclipse.jetty.server.Request;

/** Says how a photograph is sent, to whom sends one in a way that makes it none. */
final class PhotoHint {

    private static final String COMMAND = "curl --data-binary @photo.jpg ADDRESS";

    private PhotoHint() {}

    /** Returns a problem of a photograph with what the type of its request lets suspect. */
    static Problem added(Problem problem, Request request) {
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (problem.status() != HttpStatus.UNPROCESSABLE_ENTITY_422 || type == null) {
            return problem;
        }
        String hint =
                switch (MimeTypes.getContentTypeWithoutCharset(type)) {
                    case "application/x-www-form-urlencoded" ->
                            "; curl -d leaves out bytes of a file, send it with " + COMMAND;
                    case "application/json" ->
                            "; the body is the file itself, not JSON: " + COMMAND;
                    default -> "";
                };
        return Problem.of(problem.status(), problem.detail() + hint);
    }
}

package dev.saccade.serve;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableSet;

import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

import java.util.Optional;
import java.util.Set;

/**
 * Rejects requests that other sites make through a user's browser. On the loopback interface,
 * {@code Host} must be this machine (protection against DNS rebinding).
 */
final class OriginFilter {

    private static final ImmutableSet<String> THIS_MACHINE =
            ImmutableSet.of("localhost", "127.0.0.1", "[::1]");

    private final boolean loopback;
    private final Set<String> origins;

    OriginFilter(boolean loopback, Set<String> origins) {
        this.loopback = loopback;
        this.origins = ImmutableSet.copyOf(origins);
    }

    /** Checks host and origin of a request; sets the CORS headers of the response. */
    void check(Request request, Response response) {
        String host = Ascii.toLowerCase(String.valueOf(request.getHttpURI().getHost()));
        if (loopback && !THIS_MACHINE.contains(host)) {
            throw Problem.exception(
                    HttpStatus.MISDIRECTED_REQUEST_421,
                    "Host: got %s, expected localhost; this server accepts requests"
                            + " from its own machine only, unless it listens on another host",
                    host);
        }
        if (!origins.isEmpty()) {
            response.getHeaders().add(HttpHeader.VARY, HttpHeader.ORIGIN.asString());
        }
        Optional<String> origin = Optional.ofNullable(request.getHeaders().get(HttpHeader.ORIGIN));
        if (origin.isEmpty() || isOwn(origin.get(), request)) {
            return;
        }
        if (!origins.contains(origin.get())) {
            throw Problem.exception(
                    HttpStatus.FORBIDDEN_403,
                    "Origin: got %s, expected a page of this server; other origins"
                            + " must be allowed on the server",
                    origin.get());
        }
        response.getHeaders().put("Access-Control-Allow-Origin", origin.get());
        response.getHeaders()
                .put("Access-Control-Expose-Headers", "Retry-After, " + InferRequest.JSON_LENGTH);
    }

    /** Returns whether the origin is this server, even if a proxy changes {@code Host}. */
    private static boolean isOwn(String origin, Request request) {
        String authority = origin.replaceFirst("^https?://", "");
        HttpFields headers = request.getHeaders();
        return authority.equals(headers.get(HttpHeader.HOST))
                || "same-origin".equals(headers.get("Sec-Fetch-Site"));
    }

    static HttpFields preflight(String methods) {
        return HttpFields.build()
                .put("Access-Control-Allow-Methods", methods)
                .put(
                        "Access-Control-Allow-Headers",
                        "Content-Type, Content-Encoding, Accept, " + InferRequest.JSON_LENGTH)
                .put(new HttpField("Access-Control-Max-Age", "600"));
    }
}

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
 * Keeps pages of other sites from using a server through the browser of somebody who can reach it.
 *
 * <p>A server on the loopback interface answers only where the address names this machine: a site
 * whose name is made to lead here (DNS rebinding) is sent away. Requests that a page of another
 * origin makes are refused, unless that origin is allowed.
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

    /**
     * Lets a request in, and tells the browser which origin may read the answer.
     *
     * @throws Problem.Refusal if it comes from elsewhere
     */
    void admit(Request request, Response response) {
        String host = Ascii.toLowerCase(String.valueOf(request.getHttpURI().getHost()));
        if (loopback && !THIS_MACHINE.contains(host)) {
            throw Problem.refusal(
                    HttpStatus.MISDIRECTED_REQUEST_421,
                    "the address names %s, expected localhost: this server accepts requests from"
                            + " its own machine only; it can listen on another host",
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
            throw Problem.refusal(
                    HttpStatus.FORBIDDEN_403,
                    "a page of %s asks, expected one of this server; the server can allow other"
                            + " origins",
                    origin.get());
        }
        response.getHeaders().put("Access-Control-Allow-Origin", origin.get());
        response.getHeaders().put("Access-Control-Expose-Headers", "Retry-After");
    }

    /**
     * Behind a proxy, the origin is of the proxy; the browser knows that it is that of the page.
     */
    private static boolean isOwn(String origin, Request request) {
        String authority = origin.replaceFirst("^https?://", "");
        HttpFields headers = request.getHeaders();
        return authority.equals(headers.get(HttpHeader.HOST))
                || "same-origin".equals(headers.get("Sec-Fetch-Site"));
    }

    /** Returns what a browser that asks first is told. */
    static HttpFields preflight(String methods) {
        return HttpFields.build()
                .put("Access-Control-Allow-Methods", methods)
                .put("Access-Control-Allow-Headers", "Content-Type, Content-Encoding, Accept")
                .put(new HttpField("Access-Control-Max-Age", "600"));
    }
}

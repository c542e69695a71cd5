package dev.saccade.serve;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Ascii;

import dev.saccade.core.SaccadeException;

import java.net.URI;

/**
 * A Label Studio server that may use this server as its ML backend.
 *
 * @param host address of Label Studio; images are fetched from this host only
 * @param token access token of a Label Studio user, legacy or personal; empty for none
 */
public record LabelStudio(URI host, String token) {

    public LabelStudio {
        requireNonNull(token, "token");
        String scheme = Ascii.toLowerCase(String.valueOf(host.getScheme()));
        if (!(scheme.equals("http") || scheme.equals("https"))
                || host.getHost() == null
                || host.getUserInfo() != null
                || host.getQuery() != null
                || host.getFragment() != null) {
            throw SaccadeException.user(
                    "Label Studio: got %s, expected its address, such as http://localhost:8081",
                    host);
        }
        if (!token.chars().allMatch(c -> c > ' ' && c < 0x7F)) {
            throw SaccadeException.user(
                    "Label Studio: the token has invalid characters; copy it from the account page"
                            + " of Label Studio");
        }
        String path = host.getPath();
        host = path.endsWith("/") ? host : host.resolve(path + "/");
    }

    /** Parses an address; throws a user error if it is not an HTTP address. */
    public static LabelStudio of(String address, String token) {
        try {
            return new LabelStudio(URI.create(address), token);
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user(
                    "Label Studio: got %s, expected its address, such as http://localhost:8081",
                    address);
        }
    }

    /** Omits the token. */
    @Override
    public String toString() {
        return "LabelStudio[" + host + "]";
    }
}

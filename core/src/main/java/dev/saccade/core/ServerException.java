package dev.saccade.core;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableMap;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

import javax.net.ssl.SSLException;

/** A failed HTTP request, with a message for users. */
public final class ServerException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Reasons by exception type; the first one found among the causes applies. */
    private static final ImmutableMap<Class<?>, String> REASONS =
            ImmutableMap.of(
                    UnresolvedAddressException.class, "unknown host",
                    UnknownHostException.class, "unknown host",
                    HttpTimeoutException.class, "no response in time",
                    TimeoutException.class, "no response in time",
                    SSLException.class, "the TLS connection failed",
                    ConnectException.class, "connection refused",
                    NoRouteToHostException.class, "host unreachable",
                    SocketException.class, "the connection was closed");

    /** Creates an error; its message is printed after the server address. */
    public ServerException(String message) {
        super(message);
    }

    private ServerException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns a failure of Java's HTTP client as a server error with a reason for users. */
    public static ServerException of(Throwable failure) {
        List<Throwable> causes = Throwables.getCausalChain(failure);
        return causes.stream()
                .filter(ServerException.class::isInstance)
                .map(ServerException.class::cast)
                .findFirst()
                .orElseGet(() -> new ServerException(reason(causes), failure));
    }

    private static String reason(List<Throwable> causes) {
        return REASONS.entrySet().stream()
                .filter(each -> causes.stream().anyMatch(each.getKey()::isInstance))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("the response is incomplete or not HTTP");
    }
}

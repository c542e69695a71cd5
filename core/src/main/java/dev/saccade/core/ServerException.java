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

/** Why a server over HTTP gave no answer that can be used, in words for users. */
public final class ServerException extends IOException {

    private static final long serialVersionUID = 1L;

    /** The first of them that is among the causes counts. */
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

    /** Takes what is to be told, which follows the address of the server. */
    public ServerException(String message) {
        super(message);
    }

    private ServerException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns what Java's client has failed with; the same if it is one of these. */
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

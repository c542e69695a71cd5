package dev.saccade.models.zoo;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Proxies from {@code https_proxy}, {@code http_proxy}, {@code all_proxy} and {@code no_proxy}, as
 * in curl; JVM settings take precedence.
 */
final class EnvironmentProxies extends ProxySelector {

    private static final int DEFAULT_PORT = 80;

    private final Map<String, String> environment;
    private final ProxySelector jvmProxies;

    EnvironmentProxies(Map<String, String> environment, ProxySelector jvmProxies) {
        this.environment = environment;
        this.jvmProxies = jvmProxies;
        Stream.of("http", "https").forEach(this::proxy);
    }

    /** Returns the proxies of this process; throws if a variable is not an HTTP proxy. */
    static ProxySelector fromEnvironment() {
        return new EnvironmentProxies(System.getenv(), ProxySelector.getDefault());
    }

    @Override
    public List<Proxy> select(URI address) {
        List<Proxy> own = jvmProxies.select(address);
        if (own.stream().anyMatch(proxy -> proxy.type() != Proxy.Type.DIRECT)
                || isDirect(address.getHost())) {
            return own;
        }
        return proxy(address.getScheme().toLowerCase(Locale.ROOT)).map(List::of).orElse(own);
    }

    private boolean isDirect(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        if (name.equals("localhost") || name.startsWith("127.") || name.equals("[::1]")) {
            return true;
        }
        return variable("no_proxy").stream()
                .flatMap(list -> Arrays.stream(list.toLowerCase(Locale.ROOT).split("[,\\s]+")))
                .map(entry -> entry.replaceFirst("^\\*?\\.", ""))
                .filter(entry -> !entry.isEmpty())
                .anyMatch(entry -> entry.equals("*") || ("." + name).endsWith("." + entry));
    }

    private Optional<Proxy> proxy(String scheme) {
        return variable(scheme + "_proxy").or(() -> variable("all_proxy")).map(this::parsed);
    }

    /** Returns a variable; ignores {@code HTTP_PROXY}, which CGI servers set from a header. */
    private Optional<String> variable(String name) {
        String upper = name.equals("http_proxy") ? name : name.toUpperCase(Locale.ROOT);
        return Stream.of(name, upper)
                .flatMap(key -> Stream.ofNullable(environment.get(key)))
                .findFirst()
                .filter(value -> !value.isBlank());
    }

    private Proxy parsed(String value) {
        try {
            URI proxy = URI.create(value.contains("://") ? value : "http://" + value);
            if (proxy.getHost() != null && proxy.getScheme().equalsIgnoreCase("http")) {
                int port = proxy.getPort() < 0 ? DEFAULT_PORT : proxy.getPort();
                return new Proxy(
                        Proxy.Type.HTTP, InetSocketAddress.createUnresolved(proxy.getHost(), port));
            }
        } catch (IllegalArgumentException e) {
            throw invalidProxy();
        }
        throw invalidProxy();
    }

    /** Returns an error without the value, which may contain a password. */
    private static SaccadeException invalidProxy() {
        return SaccadeException.user(
                "a proxy variable such as https_proxy is invalid; expected http://HOST:PORT");
    }

    @Override
    public void connectFailed(URI address, SocketAddress proxy, IOException failure) {
        jvmProxies.connectFailed(address, proxy, failure);
    }
}

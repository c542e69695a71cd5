package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** Proxies from curl's environment variables. */
class EnvironmentProxiesTest {

    private static final ProxySelector DIRECT = ProxySelector.of(null);

    private static String proxy(Map<String, String> environment, String address) {
        List<Proxy> proxies =
                new EnvironmentProxies(environment, DIRECT).select(URI.create(address));
        assertEquals(1, proxies.size());
        return proxies.get(0).address() instanceof InetSocketAddress proxy
                ? proxy.getHostString() + ":" + proxy.getPort()
                : "none";
    }

    @ParameterizedTest
    @CsvSource({
        "https_proxy, http://proxy:3128, https://example.org/a, proxy:3128",
        "HTTPS_PROXY, proxy:3128, https://example.org/a, proxy:3128",
        "https_proxy, http://user:password@proxy:3128/, https://example.org/a, proxy:3128",
        "all_proxy, http://proxy, https://example.org/a, proxy:80",
        "https_proxy, http://proxy:3128, http://example.org/a, none",
        "http_proxy, http://proxy:3128, http://example.org/a, proxy:3128",
        "HTTP_PROXY, http://proxy:3128, http://example.org/a, none",
        "https_proxy, http://proxy:3128, https://localhost:8443/a, none",
        "https_proxy, '', https://example.org/a, none"
    })
    void readsTheProxyVariable(String variable, String value, String address, String proxy) {
        assertEquals(proxy, proxy(Map.of(variable, value), address));
    }

    @ParameterizedTest
    @CsvSource({
        "'example.org', none",
        "'.example.org', none",
        "'a.net, *.example.org', none",
        "'*', none",
        "'ample.org', proxy:1",
        "'', proxy:1"
    })
    void respectsNoProxy(String noProxy, String expected) {
        Map<String, String> environment = Map.of("https_proxy", "proxy:1", "no_proxy", noProxy);
        assertEquals(expected, proxy(environment, "https://files.example.org/a"));
    }

    @Test
    void jvmSettingsTakePrecedence() {
        ProxySelector jvm = ProxySelector.of(InetSocketAddress.createUnresolved("jvm", 2));
        List<Proxy> proxies =
                new EnvironmentProxies(Map.of("https_proxy", "proxy:1"), jvm)
                        .select(URI.create("https://example.org/a"));
        assertEquals(InetSocketAddress.createUnresolved("jvm", 2), proxies.get(0).address());
    }

    @ParameterizedTest
    @ValueSource(strings = {"socks5://proxy:1080", "http://", "http://a secret:word@proxy"})
    void rejectsOtherProxiesWithoutShowingThem(String value) {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> new EnvironmentProxies(Map.of("https_proxy", value), DIRECT));
        assertFalse(error.getMessage().contains("secret"), error.getMessage());
    }
}

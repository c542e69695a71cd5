package dev.saccade.serve;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Downloads images of tasks, only from the configured Label Studio, without redirects. */
final class LabelStudioImages {

    private static final int MAX_TOKEN_BYTES = 1 << 16;

    private final LabelStudio studio;
    private final int maxBytes;
    private final Duration timeout;
    private final HttpClient http;

    /** Short-lived token for a personal access token; empty before the first request. */
    private volatile String accessToken = "";

    LabelStudioImages(LabelStudio studio, ServerLimits limits) {
        this.studio = studio;
        this.maxBytes = limits.uploadBytes();
        this.timeout = limits.timeout();
        this.http =
                HttpClient.newBuilder()
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .connectTimeout(timeout)
                        .build();
    }

    /** Downloads an image; throws a user error if its address is not in Label Studio's data. */
    byte[] fetch(String reference) {
        URI address = address(reference);
        try {
            HttpResponse<InputStream> response = get(address);
            if (response.statusCode() == 401 && isPersonalToken()) {
                response.body().close();
                accessToken = refresh();
                response = get(address);
            }
            try (InputStream body = response.body()) {
                requireSuccess(address, response.statusCode());
                return read(body, address, maxBytes);
            }
        } catch (IOException e) {
            throw SaccadeException.user(
                    "%s: cannot be downloaded: %s; check that Label Studio runs at %s",
                    address, message(e), studio.host());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.user("%s: the download was interrupted", address);
        }
    }

    private static String message(IOException e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    /** Returns the address of an image; rejects other hosts and other paths of Label Studio. */
    URI address(String reference) {
        URI host = studio.host();
        URI address;
        try {
            address = host.resolve(URI.create(reference.replace(" ", "%20"))).normalize();
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: not a valid address of an image", reference);
        }
        boolean sameHost =
                host.getScheme().equalsIgnoreCase(String.valueOf(address.getScheme()))
                        && host.getHost().equalsIgnoreCase(String.valueOf(address.getHost()))
                        && host.getPort() == address.getPort()
                        && address.getUserInfo() == null;
        String path = String.valueOf(address.getPath());
        if (!sameHost
                || !path.startsWith(host.getPath() + "data/")
                || List.of(path.split("/")).contains("..")) {
            throw SaccadeException.user(
                    "%s: not downloaded, because it is not in the data of Label Studio at %s;"
                            + " upload the images to Label Studio, or serve them from its local"
                            + " storage",
                    reference, host);
        }
        return address;
    }

    private void requireSuccess(URI address, int status) {
        if (status == 200) {
            return;
        }
        String reason =
                status == 401 || status == 403
                        ? "set LABEL_STUDIO_API_KEY to an access token from the account page of"
                                + " Label Studio"
                        : status / 100 == 3
                                ? "redirects are not followed"
                                : status / 100 == 5
                                        ? "see the log of Label Studio"
                                        : "check that the image exists";
        throw SaccadeException.user(
                "%s: Label Studio responded with status %d; %s", address, status, reason);
    }

    private HttpResponse<InputStream> get(URI address) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(address).timeout(timeout);
        if (isPersonalToken()) {
            if (accessToken.isEmpty()) {
                accessToken = refresh();
            }
            request.header("Authorization", "Bearer " + accessToken);
        } else if (!studio.token().isEmpty()) {
            request.header("Authorization", "Token " + studio.token());
        }
        return send(request.build());
    }

    /** Sends a request; the body ends with an error after the timeout. */
    private HttpResponse<InputStream> send(HttpRequest request)
            throws IOException, InterruptedException {
        HttpResponse<InputStream> response =
                http.send(request, HttpResponse.BodyHandlers.ofInputStream());
        CompletableFuture.delayedExecutor(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .execute(
                        () -> {
                            try {
                                response.body().close();
                            } catch (IOException e) {
                                // The reader of the body reports the error.
                                return;
                            }
                        });
        return response;
    }

    private static byte[] read(InputStream body, URI address, int most) throws IOException {
        byte[] content = body.readNBytes(most + 1);
        if (content.length > most) {
            throw SaccadeException.user(
                    "%s: larger than %d bytes; raise the upload limit, or use a smaller image",
                    address, most);
        }
        return content;
    }

    /** Returns whether the token is a JSON Web Token, which is exchanged for a short-lived one. */
    private boolean isPersonalToken() {
        return studio.token().chars().filter(c -> c == '.').count() == 2;
    }

    private String refresh() throws IOException, InterruptedException {
        URI address = studio.host().resolve("api/token/refresh");
        String json = new ObjectMapper().writeValueAsString(Map.of("refresh", studio.token()));
        HttpRequest request =
                HttpRequest.newBuilder(address)
                        .timeout(timeout)
                        .header("Content-Type", JsonBody.MEDIA_TYPE)
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build();
        HttpResponse<InputStream> response = send(request);
        try (InputStream body = response.body()) {
            requireSuccess(address, response.statusCode());
            byte[] content = read(body, address, MAX_TOKEN_BYTES);
            String text = new String(content, StandardCharsets.UTF_8);
            String token = new ObjectMapper().readTree(text).path("access").asText();
            // The constructor rejects characters that cannot be in a header.
            return new LabelStudio(studio.host(), token).token();
        }
    }
}

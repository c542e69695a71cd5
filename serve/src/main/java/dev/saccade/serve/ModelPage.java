package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import com.google.common.io.Resources;

import dev.saccade.models.draw.ClassColors;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * Web page for trying out the model. Its content security policy allows no script and no style but
 * its own.
 */
record ModelPage(String html, String policy) {

    static ModelPage load() {
        String style = text(ClassColors.class, "base.css") + resource("page.css");
        String script = resource("page.js");
        String html =
                resource("page.html")
                        .replace("/* page.css */", style)
                        .replace("/* page.js */", script);
        String policy =
                "default-src 'none'; connect-src 'self'; img-src blob: data:;"
                        + (" style-src " + hash(style) + "; script-src " + hash(script))
                        + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        return new ModelPage(html, policy);
    }

    private static String hash(String text) {
        byte[] digest = Hashing.sha256().hashString(text, UTF_8).asBytes();
        return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    }

    static String resource(String name) {
        return text(ModelPage.class, name);
    }

    private static String text(Class<?> beside, String name) {
        try {
            return Resources.toString(Resources.getResource(beside, name), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package dev.saccade.report;

import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The frame of a self-contained HTML page. */
final class PageFrame {

    private PageFrame() {}

    /**
     * Opens a page. {@code images} are the image sources allowed by the content security policy.
     */
    static void open(Markup out, String title, String images, String... styles) {
        out.verbatim("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
        out.empty("meta", "charset", "utf-8");
        out.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
        String policy =
                Text.format(
                        "default-src 'none'; img-src %s; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
                        images);
        out.empty("meta", "http-equiv", "Content-Security-Policy", "content", policy);
        out.leaf("title", title).open("style").verbatim(resource(ClassColors.class, "base.css"));
        for (String style : styles) {
            out.verbatim(resource(PageFrame.class, style));
        }
        out.close().close().open("body").open("main");
    }

    /** Adds the resource {@code script} as a script, and closes the page. */
    static void close(Markup out, String script) {
        out.close().open("script").verbatim(resource(PageFrame.class, script)).close();
        out.close().close();
    }

    private static String resource(Class<?> beside, String name) {
        try {
            return Resources.toString(Resources.getResource(beside, name), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "%s cannot be read", name);
        }
    }
}

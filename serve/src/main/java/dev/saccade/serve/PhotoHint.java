package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.primitives.Bytes;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.MimeTypes;
import org.eclipse.jetty.server.Request;

/** Explains how to send an image to clients whose request has changed or wrapped it. */
final class PhotoHint {

    private static final String COMMAND = "curl --data-binary @photo.jpg ADDRESS";

    private PhotoHint() {}

    /** Returns the end of a message about a body that is no image; empty without a suspicion. */
    static String of(Request request, byte[] body) {
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null) {
            return "";
        }
        return switch (MimeTypes.getContentTypeWithoutCharset(type)) {
            case "application/x-www-form-urlencoded" ->
                    hasLineBreaks(body)
                            ? ""
                            : "; curl -d leaves out bytes of a file, send it with " + COMMAND;
            case "application/json" ->
                    isJson(body) ? "; the body is the file itself, not JSON: " + COMMAND : "";
            default -> "";
        };
    }

    /** Returns whether a body has bytes that {@code curl -d} leaves out. */
    private static boolean hasLineBreaks(byte[] body) {
        return Bytes.contains(body, (byte) '\r')
                || Bytes.contains(body, (byte) '\n')
                || Bytes.contains(body, (byte) 0);
    }

    private static boolean isJson(byte[] body) {
        String start = new String(body, 0, Math.min(body.length, 100), ISO_8859_1).strip();
        return start.isEmpty() || "{[\"".indexOf(start.charAt(0)) >= 0;
    }
}

package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.primitives.Bytes;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.MimeTypes;
import org.eclipse.jetty.server.Request;

/** Detects requests that send an image in the wrong way, and explains the right way. */
final class UploadHint {

    private static final String COMMAND = "curl --data-binary @photo.jpg ADDRESS";

    private UploadHint() {}

    /** Returns advice to append to the error message, or an empty string. */
    static String of(Request request, byte[] body) {
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null) {
            return "";
        }
        return switch (MimeTypes.getContentTypeWithoutCharset(type)) {
            case "application/x-www-form-urlencoded" ->
                    hasLineBreaks(body)
                            ? ""
                            : "; curl -d removes bytes from a file, use " + COMMAND;
            case "application/json" ->
                    isJson(body) ? "; send the file itself instead of JSON: " + COMMAND : "";
            default -> "";
        };
    }

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

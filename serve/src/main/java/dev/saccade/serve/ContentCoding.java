package dev.saccade.serve;

import com.google.common.base.Ascii;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;

/** Supported values of the request header {@code Content-Encoding}. */
enum ContentCoding {
    IDENTITY,
    GZIP,
    DEFLATE;

    /** Returns the coding of a request; rejects unsupported and multiple codings. */
    static ContentCoding of(Request request) {
        List<String> codings =
                request.getHeaders().getCSV(HttpHeader.CONTENT_ENCODING, false).stream()
                        .map(Ascii::toLowerCase)
                        .filter(coding -> !coding.equals("identity"))
                        .toList();
        if (codings.isEmpty()) {
            return IDENTITY;
        }
        if (codings.equals(List.of("gzip")) || codings.equals(List.of("x-gzip"))) {
            return GZIP;
        }
        if (codings.equals(List.of("deflate"))) {
            return DEFLATE;
        }
        throw Problem.exception(
                HttpStatus.UNSUPPORTED_MEDIA_TYPE_415,
                "Content-Encoding: got %s, expected gzip, deflate or none; send the file as it is",
                String.join(", ", codings));
    }

    /**
     * Decompresses a body. Rejects damaged data and results above {@code maxBytes}. {@code onChunk}
     * receives the size of each decompressed chunk.
     */
    byte[] decode(byte[] body, int maxBytes, IntConsumer onChunk) {
        if (this == IDENTITY) {
            return body;
        }
        ByteArrayOutputStream decoded = new ByteArrayOutputStream();
        byte[] buffer = new byte[1 << 16];
        try (InputStream packed = decompress(new ByteArrayInputStream(body))) {
            for (int read = packed.read(buffer); read >= 0; read = packed.read(buffer)) {
                if (decoded.size() + (long) read > maxBytes) {
                    throw Problem.exception(
                            HttpStatus.PAYLOAD_TOO_LARGE_413,
                            "the request is larger than %d bytes when decompressed;"
                                    + " send smaller images",
                            maxBytes);
                }
                onChunk.accept(read);
                decoded.write(buffer, 0, read);
            }
        } catch (IOException e) {
            throw Problem.badRequest(
                    "Content-Encoding: %s, but the body cannot be decompressed: %s",
                    Ascii.toLowerCase(name()), e.getMessage());
        }
        return decoded.toByteArray();
    }

    private InputStream decompress(InputStream body) throws IOException {
        return this == GZIP ? new GZIPInputStream(body) : new InflaterInputStream(body);
    }
}

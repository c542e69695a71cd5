package dev.saccade.serve;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.io.Content;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * An image file as a client sent it.
 *
 * @param name the client's file name; shown in responses and messages, never opened
 * @param content any bytes
 */
@SuppressWarnings("ArrayRecordComponent")
record Upload(String name, byte[] content) {

    private static final int MOST_NAME = 1000;
    private static final int MOST_PARTS = 10_000;

    /**
     * Returns the files of a {@code multipart/form-data} body, in their order.
     *
     * @throws Problem.Refusal if it is none, or has something else than files, or too many
     */
    static List<Upload> ofParts(String contentType, byte[] body, int most) {
        Parts parts = new Parts();
        try {
            String boundary = MultiPart.extractBoundary(contentType);
            if (boundary == null || boundary.isEmpty()) {
                throw malformed("Content-Type names no boundary");
            }
            MultiPart.Parser parser = new MultiPart.Parser(boundary, parts);
            parser.setMaxParts(MOST_PARTS);
            parser.setPartHeadersMaxLength(8192);
            parser.parse(Content.Chunk.from(ByteBuffer.wrap(body), true));
        } catch (IllegalArgumentException e) {
            throw malformed("Content-Type names no boundary that may be one");
        }
        if (parts.failed) {
            throw malformed("a part does not begin as one does");
        }
        if (!parts.complete) {
            throw malformed("its end is missing");
        }
        if (!parts.fields.isEmpty()) {
            throw Problem.badRequest(
                    "%s is no file; expected files only, and score and masks behind the"
                            + " ? of the address",
                    String.join(", ", parts.fields));
        }
        if (parts.uploads.isEmpty()) {
            throw Problem.badRequest("no file in the multipart body, expected one or more");
        }
        if (parts.uploads.size() > most) {
            throw Problem.badRequest(
                    "%s in a request, expected at most %d; send them in several",
                    Count.of(parts.uploads.size(), "file"), most);
        }
        return ImmutableList.copyOf(parts.uploads);
    }

    private static Problem.Refusal malformed(String reason) {
        return Problem.badRequest(
                "the body cannot be read as multipart/form-data: %s; send it as curl -F"
                        + " photo=@photo.jpg does",
                reason);
    }

    /** Keeps what a body is made of. */
    private static final class Parts extends MultiPart.AbstractPartsListener {

        private final List<Upload> uploads = new ArrayList<>();
        private final List<String> fields = new ArrayList<>();
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private boolean failed;
        private boolean complete;

        @Override
        public void onPartContent(Content.Chunk chunk) {
            byte[] bytes = new byte[chunk.remaining()];
            chunk.getByteBuffer().get(bytes);
            content.writeBytes(bytes);
        }

        @Override
        public void onPart(String name, String fileName, HttpFields headers) {
            if (fileName == null) {
                fields.add(name == null ? "a part without a name" : "the field " + shortened(name));
            } else {
                uploads.add(new Upload(shortened(fileName), content.toByteArray()));
            }
            content.reset();
        }

        private static String shortened(String name) {
            return name.length() > MOST_NAME ? name.substring(0, MOST_NAME) : name;
        }

        @Override
        public void onComplete() {
            complete = true;
        }

        @Override
        public void onFailure(Throwable fault) {
            failed = true;
        }
    }
}

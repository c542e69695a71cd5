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

/** An uploaded file with unchecked content; its name is shown, but never opened. */
@SuppressWarnings("ArrayRecordComponent")
record Upload(String name, byte[] content) {

    private static final int MAX_NAME = 1000;
    private static final int MAX_PARTS = 10_000;

    /**
     * Returns the files of a {@code multipart/form-data} body; rejects malformed bodies, other
     * fields and too many files.
     */
    static List<Upload> ofParts(String contentType, byte[] body, int maxFiles) {
        Parts parts = new Parts();
        try {
            String boundary = MultiPart.extractBoundary(contentType);
            if (boundary == null || boundary.isEmpty()) {
                throw malformed("Content-Type has no boundary");
            }
            MultiPart.Parser parser = new MultiPart.Parser(boundary, parts);
            parser.setMaxParts(MAX_PARTS);
            parser.setPartHeadersMaxLength(8192);
            parser.parse(Content.Chunk.from(ByteBuffer.wrap(body), true));
        } catch (IllegalArgumentException e) {
            throw malformed("Content-Type has an invalid boundary");
        }
        if (parts.failed) {
            throw malformed("a part is malformed");
        }
        if (!parts.complete) {
            throw malformed("the final boundary is missing");
        }
        if (!parts.fields.isEmpty()) {
            throw Problem.badRequest(
                    "%s is not a file; send only files, and pass score and masks in"
                            + " the query of the URL",
                    String.join(", ", parts.fields));
        }
        if (parts.uploads.isEmpty()) {
            throw Problem.badRequest("the multipart body has no files; expected at least one");
        }
        if (parts.uploads.size() > maxFiles) {
            throw Problem.badRequest(
                    "got %s in one request, expected at most %d; send several requests",
                    Count.of(parts.uploads.size(), "file"), maxFiles);
        }
        return ImmutableList.copyOf(parts.uploads);
    }

    private static Problem.HttpException malformed(String reason) {
        return Problem.badRequest(
                "the body cannot be parsed as multipart/form-data: %s; send it like"
                        + " curl -F image=@photo.jpg",
                reason);
    }

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
            return name.length() > MAX_NAME ? name.substring(0, MAX_NAME) : name;
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

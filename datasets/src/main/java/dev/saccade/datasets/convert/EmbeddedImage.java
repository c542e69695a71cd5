package dev.saccade.datasets.convert;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;

import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** The image inside a file of LabelMe, its {@code imageData}. */
final class EmbeddedImage {

    private static final int MOST_EMBEDDED = 1 << 28;

    private EmbeddedImage() {}

    /**
     * Returns the bytes of the image.
     *
     * @throws SaccadeException if there is none, or one of more than 256 MB
     */
    static byte[] read(Path file) {
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean isData = parser.currentName().equals("imageData");
                if (parser.nextToken() == JsonToken.VALUE_STRING && isData) {
                    Bounded bytes = new Bounded(file);
                    parser.readBinaryValue(bytes);
                    return bytes.toByteArray();
                }
                parser.skipChildren();
            }
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: imageData is no base64: %s", file, e.getMessage());
        } catch (IOException e) {
            throw SaccadeException.user(
                    "%s: imageData cannot be read: %s",
                    file,
                    e instanceof JsonProcessingException json
                            ? json.getOriginalMessage()
                            : e.getMessage());
        }
        throw SaccadeException.user("%s: has no imageData", file);
    }

    /** Takes no more than a photograph may have. */
    private static final class Bounded extends ByteArrayOutputStream {

        private final Path file;

        Bounded(Path file) {
            this.file = file;
        }

        @Override
        public synchronized void write(byte[] bytes, int start, int length) {
            if (count + (long) length > MOST_EMBEDDED) {
                throw SaccadeException.user(
                        "%s: imageData of more than %d bytes", file, MOST_EMBEDDED);
            }
            super.write(bytes, start, length);
        }
    }
}

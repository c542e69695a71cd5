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
import java.nio.file.Files;
import java.nio.file.Path;

/** The image embedded in a LabelMe file, its {@code imageData}. */
final class EmbeddedImage {

    /** Maximum size of the file: the Base64 length of a 256 MB image. */
    private static final long MAX_BYTES = (1L << 28) / 3 * 4;

    private EmbeddedImage() {}

    /** Returns the bytes of the image; throws if there is none, or the file is too large. */
    static byte[] read(Path file) {
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            if (Files.size(file) > MAX_BYTES) {
                throw SaccadeException.user(
                        "%s: got %d bytes, expected at most %d with imageData",
                        file, Files.size(file), MAX_BYTES);
            }
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean isData = parser.currentName().equals("imageData");
                if (parser.nextToken() == JsonToken.VALUE_STRING && isData) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    parser.readBinaryValue(bytes);
                    return bytes.toByteArray();
                }
                parser.skipChildren();
            }
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: imageData is not base64: %s", file, e.getMessage());
        } catch (IOException e) {
            String reason =
                    e instanceof JsonProcessingException json
                            ? json.getOriginalMessage()
                            : e.getMessage();
            throw SaccadeException.user("%s: imageData cannot be read: %s", file, reason);
        }
        throw SaccadeException.user("%s: has no imageData", file);
    }
}

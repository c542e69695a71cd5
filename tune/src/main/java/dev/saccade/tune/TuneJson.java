package dev.saccade.tune;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Path;

/** Reads and writes records as JSON, atomically. */
final class TuneJson {

    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .registerModule(new Jdk8Module())
                    .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                    .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
                    .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .setVisibility(PropertyAccessor.GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY);

    private TuneJson() {}

    private interface Content<T> {
        T read() throws IOException;
    }

    static <T> T read(Path file, Class<T> type) {
        return read(file, () -> JSON.readValue(file.toFile(), type));
    }

    static <T> T read(Path file, TypeReference<T> type) {
        return read(file, () -> JSON.readValue(file.toFile(), type));
    }

    private static <T> T read(Path file, Content<T> content) {
        String reason;
        try {
            T value = content.read();
            if (value != null) {
                return value;
            }
            reason = "null";
        } catch (IOException e) {
            reason = e.getMessage();
        }
        throw SaccadeException.user(
                "%s: damaged file; start again in another folder (%s)", file, reason);
    }

    static void write(Path file, Object value) {
        AtomicFile.write(file, text(value) + "\n");
    }

    /** Returns a value as JSON with one field per line. */
    static String text(Object value) {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "a record cannot be written as JSON");
        }
    }

    /** Returns a value as JSON in one line. */
    static String line(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "a record cannot be written as JSON");
        }
    }
}

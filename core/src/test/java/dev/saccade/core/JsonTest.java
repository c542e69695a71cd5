package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

class JsonTest {

    private static String firstName(byte[] json) throws IOException {
        try (JsonParser parser = Json.parser(new ByteArrayInputStream(json))) {
            parser.nextToken();
            return parser.nextFieldName();
        }
    }

    @Test
    void skipsAByteOrderMark() throws IOException {
        String json = "{\"caf\u00e9\": 1}";
        assertEquals("caf\u00e9", firstName(json.getBytes(StandardCharsets.UTF_8)));
        assertEquals("caf\u00e9", firstName(("\ufeff" + json).getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE", "ISO-8859-1"})
    void rejectsOtherEncodings(String name) {
        Charset charset = Charset.forName(name);
        String json = "{\"caf\u00e9\": \"caf\u00e9\"}";
        assertThrows(JsonProcessingException.class, () -> firstName(json.getBytes(charset)));
        assertThrows(
                JsonProcessingException.class,
                () -> firstName(("\ufeff" + json).getBytes(charset)));
    }
}

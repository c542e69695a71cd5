package dev.saccade.core;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;

import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.util.Arrays;
import java.util.OptionalLong;

/** Creates parsers for untrusted JSON, which must be UTF-8 and within size limits. */
public final class Json {

    // Limits what the parser allocates for a hostile file; far above real files.
    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder()
                    .maxNestingDepth(64)
                    .maxNumberLength(100)
                    .maxNameLength(1_000)
                    .maxStringLength(20_000_000)
                    .build();

    // Python writes NaN and Infinity into JSON, so they are parsed and reported later.
    private static final JsonFactory FACTORY =
            JsonFactory.builder()
                    .disable(JsonFactory.Feature.CHARSET_DETECTION)
                    .streamReadConstraints(LIMITS)
                    .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                    .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                    .build();

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private Json() {}

    /** Returns a parser that skips a UTF-8 byte order mark. Closing it closes the stream. */
    public static JsonParser parser(InputStream stream) throws IOException {
        PushbackInputStream text = new PushbackInputStream(stream, BYTE_ORDER_MARK.length);
        byte[] start = text.readNBytes(BYTE_ORDER_MARK.length);
        if (!Arrays.equals(start, BYTE_ORDER_MARK)) {
            text.unread(start);
        }
        return FACTORY.createParser(text);
    }

    /** Returns the location of a syntax error, or of the parser if a limit was exceeded. */
    public static JsonLocation location(JsonProcessingException fault, JsonParser parser) {
        JsonLocation found = fault.getLocation();
        return found == null ? parser.currentLocation() : found;
    }

    /** Returns the current token if it is a 64-bit integer ({@code 12.0} is one); else empty. */
    public static OptionalLong integer(JsonParser parser) throws IOException {
        if (!parser.currentToken().isNumeric() || parser.isNaN()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(parser.getDecimalValue().longValueExact());
        } catch (ArithmeticException e) {
            return OptionalLong.empty();
        }
    }
}

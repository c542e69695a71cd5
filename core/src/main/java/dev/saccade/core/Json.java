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

/**
 * The door through which JSON of others is read: it is UTF-8, whatever else its first bytes look
 * like, and what is not is no JSON.
 */
public final class Json {

    // Bounds what a hostile file can make the parser allocate; far above what real ones hold.
    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder()
                    .maxNestingDepth(64)
                    .maxNumberLength(100)
                    .maxNameLength(1_000)
                    .maxStringLength(20_000_000)
                    .build();

    // Python writes NaN and Infinity into JSON, so they must be read to be reported.
    private static final JsonFactory FACTORY =
            JsonFactory.builder()
                    .disable(JsonFactory.Feature.CHARSET_DETECTION)
                    .streamReadConstraints(LIMITS)
                    .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                    .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                    .build();

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private Json() {}

    /**
     * Returns a parser of a stream, which it closes; a byte order mark of UTF-8 is passed over.
     *
     * @throws IOException if the stream cannot be read
     */
    public static JsonParser parser(InputStream stream) throws IOException {
        PushbackInputStream text = new PushbackInputStream(stream, BYTE_ORDER_MARK.length);
        byte[] start = text.readNBytes(BYTE_ORDER_MARK.length);
        if (!Arrays.equals(start, BYTE_ORDER_MARK)) {
            text.unread(start);
        }
        return FACTORY.createParser(text);
    }

    /** Returns where a text is no JSON; what breaks a limit is where the parser has stopped. */
    public static JsonLocation location(JsonProcessingException fault, JsonParser parser) {
        JsonLocation found = fault.getLocation();
        return found == null ? parser.currentLocation() : found;
    }

    /**
     * Returns the integer that the parser is at, exactly; {@code 12.0} is one.
     *
     * @return nothing if it is none, or does not fit into 64 bits; the parser has not moved
     * @throws IOException if the rest of it cannot be read
     */
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

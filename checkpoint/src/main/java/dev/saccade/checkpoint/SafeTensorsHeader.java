package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Utf8;

import dev.saccade.core.Json;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON header of a safetensors file; tensors keep their order. */
record SafeTensorsHeader(Map<String, Entry> entries, Map<String, String> metadata) {

    /** Bounds the memory for a malicious header. */
    private static final int MAX_DIMENSIONS = 64;

    /** Bounds the memory for a malicious header. */
    private static final int MAX_TENSORS = 200_000;

    /** Tensor in the bytes {@code begin} to {@code end}, exclusive, after the header. */
    record Entry(ElementType type, Shape shape, long begin, long end) {}

    /** Parses a header; checks offsets against types and shapes. */
    static SafeTensorsHeader parse(byte[] json) {
        if (json[0] != '{') {
            throw new MalformedException("not a safetensors file: its header is not a JSON object");
        }
        try (JsonParser parser = Json.parser(new ByteArrayInputStream(json))) {
            return parse(parser.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION));
        } catch (JsonProcessingException e) {
            throw new MalformedException(
                    "damaged: its header is not valid JSON: %s", e.getOriginalMessage());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SafeTensorsHeader parse(JsonParser parser) throws IOException {
        Map<String, Entry> entries = new LinkedHashMap<>();
        Map<String, String> metadata = new LinkedHashMap<>();
        expect(parser.nextToken(), JsonToken.START_OBJECT, "header");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = validText(parser.currentName());
            expect(parser.nextToken(), JsonToken.START_OBJECT, name);
            if (name.equals(SafeTensors.METADATA)) {
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String key = validText(parser.currentName());
                    expect(parser.nextToken(), JsonToken.VALUE_STRING, name + "." + key);
                    metadata.put(key, validText(parser.getText()));
                }
            } else {
                entries.put(name, entry(parser, name));
                if (entries.size() > MAX_TENSORS) {
                    throw new MalformedException(
                            "more than %s tensors are not supported", MAX_TENSORS);
                }
            }
        }
        if (parser.nextToken() != null) {
            throw new MalformedException("damaged: unexpected data after the JSON header");
        }
        return new SafeTensorsHeader(entries, metadata);
    }

    /** Returns the text; rejects unpaired surrogates, which UTF-8 cannot encode. */
    private static String validText(String text) {
        try {
            var unused = Utf8.encodedLength(text);
            return text;
        } catch (IllegalArgumentException e) {
            throw new MalformedException("damaged: invalid UTF-8 in the header at %s", text);
        }
    }

    private static Entry entry(JsonParser parser, String name) throws IOException {
        ElementType type = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            JsonToken token = parser.nextToken();
            switch (key) {
                case "dtype" -> {
                    expect(token, JsonToken.VALUE_STRING, name + ".dtype");
                    type = ElementType.ofSafeTensors(parser.getText());
                }
                case "shape" -> shape = integers(parser, name + ".shape");
                case "data_offsets" -> offsets = integers(parser, name + ".data_offsets");
                default ->
                        throw new MalformedException(
                                "damaged: tensor %s has unknown key %s", name, key);
            }
        }
        if (type == null || shape == null || offsets == null || offsets.size() != 2) {
            throw new MalformedException(
                    "damaged: tensor %s lacks dtype, shape or data_offsets", name);
        }
        return checked(name, type, new Shape(shape), offsets.get(0), offsets.get(1));
    }

    private static Entry checked(String name, ElementType type, Shape shape, long begin, long end) {
        long bytes = type.bytes();
        for (long dimension : shape.getShape()) {
            bytes = Math.multiplyExact(bytes, dimension);
        }
        if (begin > end || end - begin != bytes) {
            throw new MalformedException(
                    "damaged: tensor %s (%s %s) has bytes %d to %d, which do not fit its shape",
                    name, type, shape, begin, end);
        }
        return new Entry(type, shape, begin, end);
    }

    private static List<Long> integers(JsonParser parser, String name) throws IOException {
        expect(parser.currentToken(), JsonToken.START_ARRAY, name);
        List<Long> integers = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            expect(parser.currentToken(), JsonToken.VALUE_NUMBER_INT, name);
            long value = parser.getLongValue();
            if (value < 0 || integers.size() == MAX_DIMENSIONS) {
                throw new MalformedException("damaged: invalid %s", name);
            }
            integers.add(value);
        }
        return integers;
    }

    private static void expect(JsonToken token, JsonToken expected, String name) {
        if (token != expected) {
            throw new MalformedException("damaged: %s is not %s", name, expected);
        }
    }
}

package dev.saccade.serve;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.SaccadeException;

final class JsonBody {

    static final String MEDIA_TYPE = "application/json";

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private JsonBody() {}

    static byte[] bytes(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "this response cannot be written as JSON");
        }
    }
}

package dev.saccade.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;

import java.net.http.HttpResponse;
import java.util.Set;

/** Compares requests and responses with {@code openapi.json}. */
final class OpenApi {

    private OpenApi() {}

    static JsonNode document() throws Exception {
        return new ObjectMapper().readTree(ModelPage.resource("openapi.json"));
    }

    /** Returns a response that matches the document. */
    static HttpResponse<byte[]> described(String method, String path, HttpResponse<byte[]> response)
            throws Exception {
        JsonNode api = document();
        JsonNode responses = api.get("paths").get(path).get(method).get("responses");
        JsonNode described =
                responses.has("" + response.statusCode())
                        ? responses.get("" + response.statusCode())
                        : responses.get("default");
        if (described.has("$ref")) {
            described = api.at(described.get("$ref").asText().substring(1));
        }
        String type = Client.type(response).replaceAll(";.*", "");
        JsonNode content = described.get("content");
        assertTrue(content.has(type), type + " is none of " + content);
        if (type.endsWith("json")) {
            assertMatches(content.get(type).get("schema"), Client.json(response));
        }
        return response;
    }

    /** Checks that the document describes the body of a POST request. */
    static void assertDescribed(String path, JsonNode body) throws Exception {
        JsonNode post = document().get("paths").get(path).get("post");
        assertMatches(post.at("/requestBody/content/application~1json/schema"), body);
    }

    private static void assertMatches(JsonNode schema, JsonNode json) throws Exception {
        ObjectNode complete = schema.deepCopy();
        complete.set("components", document().get("components"));
        JsonSchema checked =
                JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(complete);
        assertEquals(Set.of(), checked.validate(json), json.toString());
    }
}

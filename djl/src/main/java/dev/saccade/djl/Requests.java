package dev.saccade.djl;

import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.ndarray.BytesSupplier;
import ai.djl.util.JsonSerializable;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;

import java.util.Locale;

/** Requests of a service, and its answers. */
final class Requests {

    private static final String CONTENT_TYPE = "Content-Type";
    private static final String JSON = "application/json";
    private static final int BAD_REQUEST = 400;
    private static final int SERVER_ERROR = 500;

    private Requests() {}

    /**
     * Returns the photograph in a request: its body, or the part {@code data} of a form.
     *
     * @throws SaccadeException of kind user, if it has none, such as JSON with an address: nothing
     *     is fetched for a client
     */
    static ImageSource photo(Input request) {
        BytesSupplier data = request.getData();
        String type = request.getProperty(CONTENT_TYPE, "").toLowerCase(Locale.ROOT);
        if (data == null || type.startsWith(JSON)) {
            throw SaccadeException.user(
                    "the request holds no photograph; expected the content of an image file, such as"
                            + " curl -X POST -T photo.jpg sends it");
        }
        return ImageSource.of(data.getAsBytes());
    }

    /** Returns the answer of a service. */
    static Output answer(JsonSerializable found) {
        Output output = new Output();
        output.addProperty(CONTENT_TYPE, JSON);
        output.add(found);
        return output;
    }

    /** Returns the answer of a service to a request that cannot be served. */
    static Output refusal(SaccadeException reason) {
        boolean client = reason.kind() == SaccadeException.Kind.USER;
        int code = client ? BAD_REQUEST : SERVER_ERROR;
        Output output = new Output(code, client ? "Bad Request" : "Internal Server Error");
        output.addProperty(CONTENT_TYPE, JSON);
        output.add(
                BytesSupplier.wrapAsJson(
                        ImmutableMap.of(
                                "code", code,
                                "type", reason.getClass().getSimpleName(),
                                "message", reason.getMessage())));
        return output;
    }
}

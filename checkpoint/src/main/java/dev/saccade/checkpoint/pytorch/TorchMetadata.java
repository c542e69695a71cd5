package dev.saccade.checkpoint.pytorch;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import dev.saccade.checkpoint.StoredClassNames;
import dev.saccade.checkpoint.pytorch.Pickle.Tuple;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Metadata of a PyTorch file: simple values under {@code meta}, and class names at any key, such as
 * {@code meta.dataset_meta.classes} or {@code names}. Lists of strings become JSON.
 */
final class TorchMetadata {

    /** Maximum length of a text; longer texts are omitted. */
    private static final int MAX_TEXT = 1 << 16;

    private static final int MAX_TEXTS = 1000;

    private static final int MAX_DEPTH = 3;

    /** Limit on searched entries, as dicts of a malicious file may be cyclic. */
    private static final int MAX_ENTRIES = 100_000;

    private static final String META = "meta.";

    private final Map<String, String> texts = new LinkedHashMap<>();
    private int searched;

    private TorchMetadata() {}

    static Map<String, String> of(Map<?, ?> root) {
        TorchMetadata metadata = new TorchMetadata();
        if (root.get("meta") instanceof Map<?, ?> meta) {
            meta.forEach(
                    (key, value) -> {
                        if (key instanceof String name && metadata.texts.size() < MAX_TEXTS) {
                            text(value).ifPresent(text -> metadata.texts.put(name, text));
                        }
                    });
        }
        metadata.addClassNames("", root, 0);
        return metadata.texts;
    }

    private void addClassNames(String path, Map<?, ?> entries, int depth) {
        for (Map.Entry<?, ?> entry : entries.entrySet()) {
            if (searched++ > MAX_ENTRIES) {
                return;
            }
            if (!(entry.getKey() instanceof String key)) {
                continue;
            }
            String name =
                    (path + key).startsWith(META)
                            ? (path + key).substring(META.length())
                            : path + key;
            Optional<String> found =
                    StoredClassNames.isKey(key) && !(entry.getValue() instanceof String)
                            ? StoredClassNames.read(list(entry.getValue()))
                                    .flatMap(TorchMetadata::texts)
                            : Optional.empty();
            if (found.isPresent()) {
                texts.putIfAbsent(name, found.get());
            } else if (entry.getValue() instanceof Map<?, ?> nested && depth < MAX_DEPTH) {
                addClassNames(path + key + ".", nested, depth + 1);
            }
        }
    }

    private static Optional<String> text(Object value) {
        if (value instanceof String text) {
            return Optional.of(text).filter(t -> t.length() <= MAX_TEXT);
        }
        if (value instanceof Long || value instanceof Double || value instanceof Boolean) {
            return Optional.of(value.toString());
        }
        return list(value) instanceof List<?> list ? texts(list) : Optional.empty();
    }

    private static Object list(Object value) {
        return value instanceof Tuple tuple ? tuple.items() : value;
    }

    private static Optional<String> texts(List<?> items) {
        long length = 0;
        for (Object item : items) {
            length += item instanceof String text ? text.length() + 1 : MAX_TEXT;
            if (length >= MAX_TEXT) {
                return Optional.empty();
            }
        }
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            String[] texts = items.toArray(new String[0]);
            json.writeArray(texts, 0, texts.length);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "a list cannot be written as JSON");
        }
        return Optional.of(text.toString());
    }
}

package dev.saccade.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Class names in checkpoint metadata: {@code CLASSES} and {@code dataset_meta.classes} of
 * mmdetection and mmsegmentation, {@code names} of Ultralytics, {@code id2label} of Hugging Face.
 */
public final class StoredClassNames {

    /** Lower-case keys, most specific first. */
    private static final List<String> KEYS =
            List.of(
                    "classes",
                    "class_names",
                    "classnames",
                    "names",
                    "id2label",
                    "idx_to_class",
                    "class_to_idx",
                    "label2id",
                    "categories",
                    "labels");

    private StoredClassNames() {}

    /** Returns the class names by index; empty if there are none. */
    public static List<String> of(Map<String, String> metadata) {
        for (String key : KEYS) {
            for (Map.Entry<String, String> entry : metadata.entrySet()) {
                if (lastPart(entry.getKey()).equals(key)) {
                    Object value = parsed(entry.getValue());
                    Optional<List<String>> names = read(value);
                    boolean isSingle = value instanceof String;
                    if (names.isPresent() && (!isSingle || key.equals(KEYS.get(0)))) {
                        return names.get();
                    }
                }
            }
        }
        return List.of();
    }

    public static boolean isKey(String key) {
        return KEYS.contains(lastPart(key));
    }

    private static String lastPart(String key) {
        return key.substring(key.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    /**
     * Returns class names from one name, a list of names or categories, or a dict; empty if none.
     */
    public static Optional<List<String>> read(Object value) {
        if (value instanceof List<?> list) {
            return listed(list);
        }
        if (value instanceof Map<?, ?> map) {
            return indexed(map);
        }
        return value instanceof String name && !name.isEmpty()
                ? Optional.of(List.of(name))
                : Optional.empty();
    }

    private static Optional<List<String>> listed(List<?> items) {
        List<String> names = new ArrayList<>();
        for (Object item : items) {
            Object name = item instanceof Map<?, ?> category ? category.get("name") : item;
            if (!(name instanceof String text)) {
                return Optional.empty();
            }
            names.add(text);
        }
        return names.isEmpty() ? Optional.empty() : Optional.of(names);
    }

    private static Optional<List<String>> indexed(Map<?, ?> map) {
        TreeMap<Long, String> names = new TreeMap<>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            Optional<Long> key = index(entry.getKey());
            if (key.isPresent() && entry.getValue() instanceof String name) {
                names.put(key.get(), name);
            } else if (entry.getKey() instanceof String name
                    && entry.getValue() instanceof Long i) {
                names.put(i, name);
            } else {
                return Optional.empty();
            }
        }
        boolean isDense =
                !names.isEmpty() && names.firstKey() == 0 && names.lastKey() == names.size() - 1;
        return isDense && names.size() == map.size()
                ? Optional.of(List.copyOf(names.values()))
                : Optional.empty();
    }

    private static Optional<Long> index(Object key) {
        if (key instanceof Long number) {
            return Optional.of(number);
        }
        return key instanceof String text && text.matches("\\d{1,9}")
                ? Optional.of(Long.parseLong(text))
                : Optional.empty();
    }

    /** Parses a JSON list or object of simple values; returns other text unchanged. */
    private static Object parsed(String text) {
        if (!text.startsWith("[") && !text.startsWith("{")) {
            return text;
        }
        try (JsonParser json = new JsonFactory().createParser(text)) {
            json.nextToken();
            Object value = value(json, 0);
            return json.nextToken() == null ? value : text;
        } catch (IOException e) {
            return text;
        }
    }

    private static Object value(JsonParser json, int depth) throws IOException {
        if (depth > 2) {
            throw new IOException("nested too deeply");
        }
        if (json.currentToken() == JsonToken.START_ARRAY) {
            List<Object> items = new ArrayList<>();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                items.add(value(json, depth + 1));
            }
            return items;
        }
        if (json.currentToken() == JsonToken.START_OBJECT) {
            Map<Object, Object> entries = new LinkedHashMap<>();
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String name = json.currentName();
                json.nextToken();
                entries.put(name, value(json, depth + 1));
            }
            return entries;
        }
        return json.currentToken() == JsonToken.VALUE_NUMBER_INT
                ? (Object) json.getLongValue()
                : json.getText();
    }
}

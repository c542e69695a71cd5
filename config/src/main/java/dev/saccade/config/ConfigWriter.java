package dev.saccade.config;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.google.common.base.Strings;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes configs as YAML that reads back to the same values, or as JSON. */
public final class ConfigWriter {

    private static final int COMMENT_COLUMN = 56;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_/.][A-Za-z0-9_/.-]*");

    private record Line(String text, Origin origin) {

        String withOrigin() {
            return origin == null
                    ? text
                    : Strings.padEnd(text, COMMENT_COLUMN, ' ') + "  # " + Printable.line(origin);
        }
    }

    private final List<Line> lines = new ArrayList<>();

    private ConfigWriter() {}

    public static String yaml(ConfigNode.Mapping config) {
        return lines(config).stream().map(line -> line.text + "\n").collect(Collectors.joining());
    }

    /** Returns a config as YAML with the origin of each value in a comment. */
    public static String yamlWithOrigins(ConfigNode.Mapping config) {
        return lines(config).stream()
                .map(line -> line.withOrigin() + "\n")
                .collect(Collectors.joining());
    }

    /**
     * Returns JSON with the values in {@code config} and the origins by dotted key in {@code
     * origins}.
     */
    public static String json(ConfigNode.Mapping config) {
        return json(
                json -> {
                    json.writeStartObject();
                    json.writeFieldName("config");
                    values(json, config);
                    json.writeObjectFieldStart("origins");
                    origins(json, config, "");
                    json.writeEndObject();
                    json.writeEndObject();
                });
    }

    public static String valuesAsJson(ConfigNode.Mapping config) {
        return json(json -> values(json, config));
    }

    private interface Content {
        void write(JsonGenerator json) throws IOException;
    }

    private static String json(Content content) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.useDefaultPrettyPrinter();
            content.write(json);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "cannot write a config as JSON");
        }
        return text.append('\n').toString();
    }

    private static List<Line> lines(ConfigNode.Mapping config) {
        ConfigWriter writer = new ConfigWriter();
        if (config.entries().isEmpty()) {
            writer.lines.add(new Line("{}", config.origin()));
        }
        writer.entries(config, "", "");
        return writer.lines;
    }

    /** Writes the entries of a map; {@code first} is the prefix of the first key. */
    private void entries(ConfigNode.Mapping mapping, String first, String indent) {
        String start = first;
        for (Map.Entry<String, ConfigNode> entry : mapping.entries().entrySet()) {
            value(start + text(entry.getKey()) + ":", entry.getValue(), indent + "  ");
            start = indent;
        }
    }

    private void value(String head, ConfigNode node, String indent) {
        if (isInline(node)) {
            lines.add(new Line(head + " " + inline(node), node.origin()));
            return;
        }
        lines.add(new Line(head, null));
        if (node instanceof ConfigNode.Mapping mapping) {
            entries(mapping, indent, indent);
        } else if (node instanceof ConfigNode.Sequence sequence) {
            sequence.items().forEach(item -> item(item, indent));
        }
    }

    private void item(ConfigNode item, String indent) {
        if (!isInline(item) && item instanceof ConfigNode.Mapping mapping) {
            entries(mapping, indent + "- ", indent + "  ");
        } else {
            value(indent + "-", item, indent + "  ");
        }
    }

    private static boolean isInline(ConfigNode node) {
        if (node instanceof ConfigNode.Mapping mapping) {
            return mapping.entries().isEmpty();
        }
        return !(node instanceof ConfigNode.Sequence sequence)
                || sequence.items().stream().allMatch(ConfigWriter::isInline);
    }

    /** Returns a value in one line of YAML, such as {@code {type: coco, images: train}}. */
    public static String inline(ConfigNode node) {
        if (node instanceof ConfigNode.Mapping mapping) {
            return mapping.entries().entrySet().stream()
                    .map(entry -> text(entry.getKey()) + ": " + inline(entry.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (node instanceof ConfigNode.Sequence sequence) {
            return sequence.items().stream()
                    .map(ConfigWriter::inline)
                    .collect(Collectors.joining(", ", "[", "]"));
        }
        if (node instanceof ConfigNode.Scalar scalar) {
            return scalar(scalar.value());
        }
        return "null";
    }

    private static String scalar(Object value) {
        if (value instanceof String text) {
            return text(text);
        }
        return value instanceof Double number ? number(number) : value.toString();
    }

    private static String number(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? ".inf" : "-.inf";
        }
        double magnitude = Math.abs(value);
        boolean isPlain = magnitude >= 1e-6 && magnitude < 1e7;
        return isPlain
                ? new BigDecimal(Double.toString(value)).toPlainString()
                : Double.toString(value);
    }

    /** Returns a string as a YAML scalar, quoted if necessary. */
    public static String text(String text) {
        if (PLAIN.matcher(text).matches() && YamlReader.isText(text)) {
            return text;
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= ' ' && c < 0x7f) {
                quoted.append(c);
            } else {
                quoted.append(Text.format("\\u%04x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }

    private static void values(JsonGenerator json, ConfigNode node) throws IOException {
        if (node instanceof ConfigNode.Mapping mapping) {
            json.writeStartObject();
            for (Map.Entry<String, ConfigNode> entry : mapping.entries().entrySet()) {
                json.writeFieldName(entry.getKey());
                values(json, entry.getValue());
            }
            json.writeEndObject();
        } else if (node instanceof ConfigNode.Sequence sequence) {
            json.writeStartArray();
            for (ConfigNode item : sequence.items()) {
                values(json, item);
            }
            json.writeEndArray();
        } else if (node instanceof ConfigNode.Scalar scalar) {
            json.writePOJO(scalar.value());
        } else {
            json.writeNull();
        }
    }

    private static void origins(JsonGenerator json, ConfigNode node, String path)
            throws IOException {
        if (node instanceof ConfigNode.Mapping mapping && !mapping.entries().isEmpty()) {
            String prefix = path.isEmpty() ? "" : path + ".";
            for (Map.Entry<String, ConfigNode> entry : mapping.entries().entrySet()) {
                origins(json, entry.getValue(), prefix + entry.getKey());
            }
        } else if (node instanceof ConfigNode.Sequence sequence && !isInline(node)) {
            for (int i = 0; i < sequence.items().size(); i++) {
                origins(json, sequence.items().get(i), path + "[" + i + "]");
            }
        } else {
            json.writeStringField(path, node.origin().toString());
        }
    }
}

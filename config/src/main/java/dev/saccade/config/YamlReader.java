package dev.saccade.config;

import com.google.common.base.CharMatcher;

import dev.saccade.core.SaccadeException;

import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.CoreSchema;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a YAML 1.2 document (core schema). Works on parser events, to reject deep nesting, alias
 * bombs, tags and duplicate keys as soon as they occur.
 */
final class YamlReader {

    /** Deeper than any config, and safe for the thread's stack. */
    private static final int MAX_DEPTH = 64;

    /** More than any config; stops alias bombs. */
    private static final int MAX_VALUES = 20_000;

    /** Longer than any useful number; parsing digits takes quadratic time. */
    private static final int MAX_DIGITS = 100;

    private static final ScalarResolver RESOLVER = new CoreSchema().getScalarResolver();

    private final Origin start;
    private final boolean typed;
    private final Iterator<Event> events;
    private final Map<Anchor, ConfigNode> anchors = new HashMap<>();
    private int values;

    private YamlReader(String text, Origin start, boolean typed) {
        this.start = start;
        this.typed = typed;
        // The buffer holds the whole text: the parser fails if a surrogate pair crosses the end of
        // its buffer.
        LoadSettings settings =
                LoadSettings.builder()
                        .setLabel(start.source())
                        .setSchema(new CoreSchema())
                        .setCodePointLimit(ConfigFile.MAX_BYTES)
                        .setBufferSize(text.length() + 1)
                        .build();
        this.events = new Parse(settings).parseString(text).iterator();
    }

    /**
     * Returns the document, or {@link ConfigNode.Null} if it is empty.
     *
     * @param start origin of the first character, or of all values if its line is 0
     */
    static ConfigNode read(String text, Origin start) {
        return read(new YamlReader(text, start, /* typed= */ true));
    }

    /** Returns the document with all scalars as written, such as {@code 007}. */
    static ConfigNode readAsStrings(String text, Origin start) {
        return read(new YamlReader(text, start, /* typed= */ false));
    }

    private static ConfigNode read(YamlReader reader) {
        try {
            return reader.document();
        } catch (MarkedYamlEngineException e) {
            throw reader.error(e.getProblemMark(), invalidYaml(e.getProblem()));
        } catch (YamlEngineException e) {
            throw reader.error(Optional.empty(), invalidYaml(e.getMessage()));
        } catch (IllegalArgumentException e) {
            // The parser throws this if a file ends after the x of an escape.
            throw reader.error(Optional.empty(), invalidYaml("invalid escape sequence"));
        }
    }

    private static String invalidYaml(String problem) {
        return "invalid YAML: " + CharMatcher.whitespace().trimAndCollapseFrom(problem, ' ');
    }

    private ConfigNode document() {
        events.next(); // the start of the stream
        if (events.next().getEventId() == Event.ID.StreamEnd) {
            return new ConfigNode.Null(start);
        }
        ConfigNode root = node(next(), Optional.empty(), 0);
        events.next(); // the end of the document
        Event end = events.next();
        if (end.getEventId() != Event.ID.StreamEnd) {
            throw error(end, "got a second document, expected one; remove the line ---");
        }
        return root;
    }

    private Event next() {
        return events.next();
    }

    private ConfigNode node(Event event, Optional<Origin> key, int depth) {
        if (depth > MAX_DEPTH) {
            throw error(event, "got more than " + MAX_DEPTH + " nested levels");
        }
        Origin origin = key.orElseGet(() -> origin(event));
        if (event instanceof AliasEvent alias) {
            return aliased(alias, origin);
        }
        rejectTag(event);
        count(event, 1);
        ConfigNode node;
        if (event instanceof ScalarEvent scalar) {
            node = scalar(scalar, origin);
        } else if (event instanceof MappingStartEvent) {
            node = mapping(origin, depth);
        } else {
            node = sequence(origin, depth);
        }
        ((NodeEvent) event).getAnchor().ifPresent(anchor -> anchors.put(anchor, node));
        return node;
    }

    private ConfigNode aliased(AliasEvent alias, Origin origin) {
        ConfigNode target = anchors.get(alias.getAlias());
        if (target == null) {
            throw error(alias, "alias *" + alias.getAlias() + " is not defined above");
        }
        count(alias, size(target));
        return at(target, origin);
    }

    private static ConfigNode at(ConfigNode node, Origin origin) {
        if (node instanceof ConfigNode.Mapping mapping) {
            return new ConfigNode.Mapping(mapping.entries(), origin);
        }
        if (node instanceof ConfigNode.Sequence sequence) {
            return new ConfigNode.Sequence(sequence.items(), origin);
        }
        return node instanceof ConfigNode.Scalar scalar
                ? new ConfigNode.Scalar(scalar.value(), origin)
                : new ConfigNode.Null(origin);
    }

    private static int size(ConfigNode node) {
        if (node instanceof ConfigNode.Mapping mapping) {
            return 1 + mapping.entries().values().stream().mapToInt(YamlReader::size).sum();
        }
        if (node instanceof ConfigNode.Sequence sequence) {
            return 1 + sequence.items().stream().mapToInt(YamlReader::size).sum();
        }
        return 1;
    }

    private void count(Event event, int added) {
        values += added;
        if (values > MAX_VALUES) {
            throw error(
                    event, "got more than " + MAX_VALUES + " values, including expanded aliases");
        }
    }

    private ConfigNode mapping(Origin origin, int depth) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        for (Event event = next(); event.getEventId() != Event.ID.MappingEnd; event = next()) {
            if (!(event instanceof ScalarEvent key)) {
                throw error(event, "got a list or map as a key, expected a name");
            }
            rejectTag(event);
            Origin place = origin(key);
            ConfigNode old = entries.get(key.getValue());
            if (old != null) {
                throw error(
                        event,
                        "key " + key.getValue() + " is duplicated, first at " + old.origin());
            }
            entries.put(key.getValue(), node(next(), Optional.of(place), depth + 1));
        }
        return new ConfigNode.Mapping(entries, origin);
    }

    private ConfigNode sequence(Origin origin, int depth) {
        List<ConfigNode> items = new ArrayList<>();
        for (Event event = next(); event.getEventId() != Event.ID.SequenceEnd; event = next()) {
            items.add(node(event, Optional.empty(), depth + 1));
        }
        return new ConfigNode.Sequence(items, origin);
    }

    private ConfigNode scalar(ScalarEvent event, Origin origin) {
        String text = event.getValue();
        if (!typed && !text.isEmpty()) {
            return new ConfigNode.Scalar(text, origin);
        }
        Tag tag = event.isPlain() ? RESOLVER.resolve(text, true) : Tag.STR;
        if (tag.equals(Tag.NULL)) {
            return new ConfigNode.Null(origin);
        }
        if (tag.equals(Tag.BOOL)) {
            return new ConfigNode.Scalar(Boolean.valueOf(text), origin);
        }
        boolean isNumber = tag.equals(Tag.INT) || tag.equals(Tag.FLOAT);
        if (isNumber && text.length() > MAX_DIGITS) {
            throw error(event, "got a number with more than " + MAX_DIGITS + " digits");
        }
        if (tag.equals(Tag.INT)) {
            return new ConfigNode.Scalar(integer(text), origin);
        }
        if (tag.equals(Tag.FLOAT)) {
            Double value = decimal(text);
            if (value.isInfinite() && !text.endsWith("f") && !text.endsWith("F")) {
                throw error(event, "number " + text + " is too large; write .inf for infinity");
            }
            return new ConfigNode.Scalar(value, origin);
        }
        return new ConfigNode.Scalar(text, origin);
    }

    private static Object integer(String text) {
        BigInteger value;
        if (text.startsWith("0x")) {
            value = new BigInteger(text.substring(2), 16);
        } else if (text.startsWith("0o")) {
            value = new BigInteger(text.substring(2), 8);
        } else {
            value = new BigInteger(text);
        }
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    private static Double decimal(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case ".inf", "+.inf" -> Double.POSITIVE_INFINITY;
            case "-.inf" -> Double.NEGATIVE_INFINITY;
            case ".nan" -> Double.NaN;
            default -> Double.valueOf(text);
        };
    }

    /** Returns whether an unquoted text is read back as a string. */
    static boolean isText(String plain) {
        return RESOLVER.resolve(plain, true).equals(Tag.STR);
    }

    private void rejectTag(Event event) {
        Optional<String> tag = Optional.empty();
        if (event instanceof ScalarEvent scalar) {
            tag = scalar.getTag();
        } else if (event instanceof CollectionStartEvent collection) {
            tag = collection.getTag();
        }
        if (tag.isPresent()) {
            throw error(event, "tag " + tag.get() + " is not supported; write the plain value");
        }
    }

    private SaccadeException error(Event event, String problem) {
        return error(event.getStartMark(), problem);
    }

    private SaccadeException error(Optional<Mark> mark, String problem) {
        return SaccadeException.user("%s: %s", mark.map(this::origin).orElse(start), problem);
    }

    private Origin origin(Event event) {
        return event.getStartMark().map(this::origin).orElse(start);
    }

    private Origin origin(Mark mark) {
        return start.line() == 0
                ? start
                : new Origin(start.source(), mark.getLine() + 1, mark.getColumn() + 1);
    }
}

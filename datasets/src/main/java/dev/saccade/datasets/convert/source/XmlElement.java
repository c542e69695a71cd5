package dev.saccade.datasets.convert.source;

import com.google.common.primitives.Doubles;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * An element of an XML file of labels. Entities and external references are disabled, so a file
 * cannot expand in memory or read other files.
 */
public final class XmlElement {

    private static final long MAX_BYTES = 1L << 31;
    private static final int MAX_CHARACTERS = 1 << 28;
    private static final int MAX_TEXT = 10_000;
    private static final int MAX_DEPTH = 100;

    /** Estimated size of an element without its text, in characters. */
    private static final int OVERHEAD = 100;

    private final String name;
    private final String place;
    private final Map<String, String> attributes = new HashMap<>();
    private final List<XmlElement> children = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();

    private XmlElement(Path file, XMLStreamReader reader) {
        this.name = reader.getLocalName();
        this.place = file + ":" + reader.getLocation().getLineNumber();
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            attributes.put(reader.getAttributeLocalName(i), reader.getAttributeValue(i));
        }
    }

    /** Processes the children of the root one by one; only one is in memory. */
    public static void forEach(Path file, String root, Consumer<XmlElement> action) {
        try (InputStream stream = RegularFile.open(file)) {
            if (Files.size(file) > MAX_BYTES) {
                throw SaccadeException.user(
                        "%s: got %d bytes, expected at most %d", file, Files.size(file), MAX_BYTES);
            }
            XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
            factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
            factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
            factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false);
            read(file, factory.createXMLStreamReader(stream), root, action);
        } catch (XMLStreamException e) {
            String message = String.valueOf(e.getMessage());
            throw SaccadeException.user(
                    "%s:%d:%d: invalid XML: %s",
                    file,
                    e.getLocation() == null ? 1 : e.getLocation().getLineNumber(),
                    e.getLocation() == null ? 1 : e.getLocation().getColumnNumber(),
                    message.substring(message.indexOf("Message:") + 1)
                            .replace("essage: ", "")
                            .strip());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static void read(
            Path file, XMLStreamReader reader, String root, Consumer<XmlElement> action)
            throws XMLStreamException {
        Deque<XmlElement> open = new ArrayDeque<>();
        long characters = 0;
        while (reader.hasNext()) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    XmlElement element = new XmlElement(file, reader);
                    element.require(root, open.size());
                    characters = open.size() == 1 ? 0 : characters + element.characters();
                    if (characters > MAX_CHARACTERS) {
                        throw SaccadeException.user(
                                "%s: element has more than %d characters",
                                element.place, MAX_CHARACTERS);
                    }
                    open.push(element);
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    XmlElement element = open.pop();
                    if (open.size() == 1) {
                        action.accept(element);
                    } else if (!open.isEmpty()) {
                        open.peek().children.add(element);
                    }
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> {
                    if (!open.isEmpty() && open.peek().text.length() < MAX_TEXT) {
                        open.peek().text.append(reader.getText());
                        characters += reader.getTextLength();
                    }
                }
                default -> {}
            }
        }
    }

    private void require(String root, int depth) {
        if (depth == 0 && !name.equals(root)) {
            throw SaccadeException.user("%s: got <%s>, expected <%s>", place, name, root);
        } else if (depth == MAX_DEPTH) {
            throw SaccadeException.user(
                    "%s: elements are nested deeper than %d levels", place, MAX_DEPTH);
        }
    }

    private long characters() {
        return OVERHEAD + attributes.values().stream().mapToLong(String::length).sum();
    }

    public String name() {
        return name;
    }

    public String place() {
        return place;
    }

    public Optional<String> attribute(String key) {
        return Optional.ofNullable(attributes.get(key));
    }

    public List<XmlElement> children() {
        return children;
    }

    /** Returns the first descendant at a path of element names; empty if missing. */
    public Optional<XmlElement> child(String... path) {
        Optional<XmlElement> element = Optional.of(this);
        for (String step : path) {
            element = element.flatMap(e -> e.children(step).stream().findFirst());
        }
        return element;
    }

    public List<XmlElement> children(String childName) {
        return children.stream().filter(child -> child.name.equals(childName)).toList();
    }

    /** Returns the stripped text at a path of names, without nested text; empty if missing. */
    public String text(String... path) {
        return child(path).map(element -> element.text.toString().strip()).orElse("");
    }

    /** Returns the text as a finite number; otherwise throws with file and line. */
    public double number() {
        try {
            return number(name, text());
        } catch (SaccadeException e) {
            throw SaccadeException.user("%s: %s", place, e.getMessage());
        }
    }

    /** Returns the number in an attribute; throws if it is not finite. */
    public double number(String key) {
        return number(key, attribute(key).orElse("nothing"));
    }

    /** Parses a finite number; {@code key} is its name in messages. */
    public static double number(String key, String text) {
        Double number = Doubles.tryParse(text.strip());
        if (number == null || !Double.isFinite(number)) {
            throw SaccadeException.user("%s: got \"%s\", expected a decimal number", key, text);
        }
        return number;
    }
}

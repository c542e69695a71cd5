package dev.saccade.datasets.convert;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * An XML file of labels, read element by element. Entities are not known and nothing is fetched, so
 * no file grows while it is read or reads another.
 */
final class XmlFile implements AutoCloseable {

    /** Is told of the elements of a file. */
    interface Visitor {

        /** An element begins; {@link #attribute} tells its attributes. */
        default void start(String path, XmlFile at) {}

        /** An element ends; {@code text} is what stood in it beside other elements. */
        default void end(String path, String text, XmlFile at) {}
    }

    private static final long MOST_BYTES = 1L << 31;
    private static final int MOST_TEXT = 10_000;
    private static final int MOST_DEPTH = 100;

    private final Path file;
    private final InputStream stream;
    private final XMLStreamReader reader;

    private XmlFile(Path file, InputStream stream) throws XMLStreamException {
        this.file = file;
        this.stream = stream;
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false);
        this.reader = factory.createXMLStreamReader(stream);
    }

    /**
     * Goes through a file.
     *
     * @throws SaccadeException if it cannot be read, or is no XML; names file and line
     */
    static void visit(Path file, Visitor visitor) {
        try (XmlFile xml = open(file)) {
            xml.visit(visitor);
        } catch (XMLStreamException e) {
            throw SaccadeException.user(
                    "%s:%d:%d: no valid XML: %s",
                    file,
                    e.getLocation() == null ? 1 : e.getLocation().getLineNumber(),
                    e.getLocation() == null ? 1 : e.getLocation().getColumnNumber(),
                    reason(e));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static XmlFile open(Path file) throws IOException, XMLStreamException {
        InputStream stream = RegularFile.open(file);
        if (Files.size(file) > MOST_BYTES) {
            stream.close();
            throw SaccadeException.user(
                    "%s: %d bytes, at most %d expected", file, Files.size(file), MOST_BYTES);
        }
        return new XmlFile(file, stream);
    }

    private static String reason(XMLStreamException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.substring(message.indexOf("Message:") + 1).replace("essage: ", "").strip();
    }

    private void visit(Visitor visitor) throws XMLStreamException {
        Deque<StringBuilder> texts = new ArrayDeque<>();
        StringBuilder path = new StringBuilder();
        while (reader.hasNext()) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    if (texts.size() == MOST_DEPTH) {
                        throw SaccadeException.user(
                                "%s: elements in more than %d others", place(), MOST_DEPTH);
                    }
                    path.append(path.isEmpty() ? "" : "/").append(reader.getLocalName());
                    texts.push(new StringBuilder());
                    visitor.start(path.toString(), this);
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    visitor.end(path.toString(), texts.pop().toString().strip(), this);
                    path.setLength(Math.max(0, path.lastIndexOf("/")));
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> {
                    if (!texts.isEmpty() && texts.peek().length() < MOST_TEXT) {
                        texts.peek().append(reader.getText());
                    }
                }
                default -> {}
            }
        }
    }

    /** Returns an attribute of the element that begins. */
    Optional<String> attribute(String name) {
        return Optional.ofNullable(reader.getAttributeValue(null, name));
    }

    /** Returns file and line. */
    String place() {
        return file + ":" + reader.getLocation().getLineNumber();
    }

    @Override
    public void close() throws IOException, XMLStreamException {
        reader.close();
        stream.close();
    }
}

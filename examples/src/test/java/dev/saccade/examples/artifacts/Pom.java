package dev.saccade.examples.artifacts;

import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;

/** A pom.xml. */
record Pom(Document document) {

    static Pom of(Path folder) {
        try {
            return new Pom(
                    DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(folder.resolve("pom.xml").toFile()));
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new AssertionError(folder.toString(), e);
        }
    }

    /** Returns the text at an XPath; empty if missing. */
    String text(String path) {
        return texts(path).stream().findFirst().orElse("");
    }

    List<String> texts(String path) {
        try {
            NodeList found =
                    (NodeList)
                            XPathFactory.newInstance()
                                    .newXPath()
                                    .evaluate(path, document, XPathConstants.NODESET);
            return IntStream.range(0, found.getLength())
                    .mapToObj(i -> found.item(i).getTextContent().strip())
                    .toList();
        } catch (XPathExpressionException e) {
            throw new AssertionError(path, e);
        }
    }
}

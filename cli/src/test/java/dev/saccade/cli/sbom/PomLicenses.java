package dev.saccade.cli.sbom;

import dev.saccade.cli.sbom.DependencyTree.Artifact;

import org.cyclonedx.model.License;
import org.cyclonedx.model.LicenseChoice;
import org.cyclonedx.util.LicenseResolver;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

/** Reads licenses in the POMs of a local Maven repository. */
record PomLicenses(Path repository) {

    /** Returns SPDX ids, or names that are no SPDX licenses; empty if the POMs have none. */
    List<String> of(Artifact artifact) throws IOException {
        return of(artifact.group(), artifact.name(), artifact.version());
    }

    private List<String> of(String group, String name, String version) throws IOException {
        Path folder = repository.resolve(group.replace('.', '/')).resolve(name).resolve(version);
        Path pom = folder.resolve(name + "-" + version + ".pom");
        if (!Files.exists(pom)) {
            return List.of();
        }
        Element project = parse(pom);
        List<String> licenses = new ArrayList<>();
        for (Element license :
                child(project, "licenses").stream().flatMap(PomLicenses::children).toList()) {
            licenses.add(spdx(text(license, "name"), text(license, "url")));
        }
        Optional<Element> parent = child(project, "parent");
        return licenses.isEmpty() && parent.isPresent()
                ? of(
                        text(parent.get(), "groupId"),
                        text(parent.get(), "artifactId"),
                        text(parent.get(), "version"))
                : licenses;
    }

    private static String spdx(String name, String url) {
        return Stream.of(name, url)
                .filter(text -> !text.isEmpty())
                .map(text -> LicenseResolver.resolve(text, false))
                .filter(found -> found != null && found.getLicenses() != null)
                .map(LicenseChoice::getLicenses)
                .filter(found -> !found.isEmpty() && found.get(0).getId() != null)
                .map(found -> found.get(0))
                .map(License::getId)
                .findFirst()
                .orElse(name);
    }

    private static Element parse(Path pom) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return factory.newDocumentBuilder().parse(pom.toFile()).getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(pom + ": " + e.getMessage(), e);
        }
    }

    private static Stream<Element> children(Element parent) {
        return IntStream.range(0, parent.getChildNodes().getLength())
                .mapToObj(i -> parent.getChildNodes().item(i))
                .filter(node -> node.getNodeType() == Node.ELEMENT_NODE)
                .map(Element.class::cast);
    }

    private static Optional<Element> child(Element parent, String name) {
        return children(parent).filter(node -> node.getTagName().equals(name)).findFirst();
    }

    private static String text(Element parent, String name) {
        return child(parent, name).map(node -> node.getTextContent().strip()).orElse("");
    }
}

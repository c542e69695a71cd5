package dev.saccade.serve;

import dev.saccade.models.TrainedModel;

import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * The part of a Label Studio labeling config that predictions need.
 *
 * @param name name of the tag for results
 * @param image name of the image tag
 * @param dataKey key of the image in the data of a task
 * @param labels class names; empty if each task has its own
 */
record LabelingConfig(Tag tag, String name, String image, String dataKey, Set<String> labels) {

    private static final int MAX_CHARACTERS = 1_000_000;

    /** Tags for results, from the most to the least detailed. */
    enum Tag {
        BRUSH("BrushLabels"),
        POLYGON("PolygonLabels"),
        RECTANGLE("RectangleLabels"),
        CHOICES("Choices");

        private final String element;

        Tag(String element) {
            this.element = element;
        }

        /** Returns the type of a result, which is also the key of its labels. */
        String type() {
            return element.toLowerCase(Locale.ROOT);
        }
    }

    private record Control(Tag tag, String name, String image, Set<String> labels) {}

    /** Parses a config; rejects configs without a tag for the predictions of the model. */
    static LabelingConfig of(String xml, TrainedModel<?> model) {
        List<Tag> usable =
                model.match(
                        detector ->
                                ModelInfo.hasMasks(detector)
                                        ? List.of(Tag.BRUSH, Tag.POLYGON, Tag.RECTANGLE)
                                        : List.of(Tag.RECTANGLE),
                        segmenter -> List.of(Tag.BRUSH),
                        classifier -> List.of(Tag.CHOICES));
        if (xml.length() > MAX_CHARACTERS) {
            throw Problem.badRequest(
                    "labeling config: got %d characters, expected at most %d",
                    xml.length(), MAX_CHARACTERS);
        }
        Map<String, Control> controls = new LinkedHashMap<>();
        Map<String, String> images = new LinkedHashMap<>();
        try {
            parse(xml, controls, images);
        } catch (XMLStreamException e) {
            throw Problem.badRequest("labeling config: invalid XML: %s", e.getMessage());
        }
        for (Tag tag : usable) {
            Optional<Control> control =
                    controls.values().stream()
                            .filter(each -> each.tag == tag && images.containsKey(each.image))
                            .findFirst();
            if (control.isPresent()) {
                Control found = control.get();
                return new LabelingConfig(
                        tag, found.name, found.image, images.get(found.image), found.labels);
            }
        }
        throw Problem.badRequest(
                "labeling config: has no tag for the predictions of this model; add %s with the"
                        + " classes %s",
                usable.stream()
                        .map(tag -> "<" + tag.element + ">")
                        .collect(Collectors.joining(" or ")),
                String.join(", ", model.classes()));
    }

    private static void parse(String xml, Map<String, Control> controls, Map<String, String> images)
            throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false);
        XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(xml));
        Deque<Optional<Control>> open = new ArrayDeque<>();
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.END_ELEMENT) {
                open.pop();
            } else if (event == XMLStreamConstants.START_ELEMENT) {
                String element = reader.getLocalName();
                String name = attribute(reader, "name");
                String value = attribute(reader, "value");
                Optional<Control> control = Optional.empty();
                for (Tag tag : Tag.values()) {
                    if (tag.element.equals(element)) {
                        String image = attribute(reader, "toName");
                        control = Optional.of(new Control(tag, name, image, new LinkedHashSet<>()));
                        controls.putIfAbsent(name, control.get());
                    }
                }
                if (element.equals("Image") && value.startsWith("$")) {
                    images.put(name, value.substring(1));
                } else if (element.equals("Label") || element.equals("Choice")) {
                    open.stream()
                            .flatMap(Optional::stream)
                            .findFirst()
                            .ifPresent(parent -> parent.labels.add(value));
                }
                open.push(control);
            }
        }
    }

    private static String attribute(XMLStreamReader reader, String key) {
        return Optional.ofNullable(reader.getAttributeValue(null, key)).orElse("");
    }

    boolean hasLabel(String label) {
        return labels.isEmpty() || labels.contains(label);
    }
}

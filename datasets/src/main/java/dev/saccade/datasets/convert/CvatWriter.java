package dev.saccade.datasets.convert;

import com.google.common.base.CharMatcher;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Writes {@code annotations.xml} of CVAT for images 1.1. Parts of one object share a {@code
 * group_id}. Classes of images become tags. Leaves out crowds, which CVAT does not know.
 */
final class CvatWriter implements LabelWriter {

    @Override
    public void write(SourceLabels labels, OutputFolder target) throws IOException {
        requireUsable(labels);
        try (OutputStream file = target.create("annotations.xml")) {
            XMLStreamWriter xml =
                    XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(file, "UTF-8");
            new Document(xml, labels.classes(), labels.imageClasses()).write(labels.images());
            xml.close();
        } catch (XMLStreamException e) {
            throw new IOException(e);
        }
    }

    private static void requireUsable(SourceLabels labels) {
        Problems problems = new Problems();
        labels.classes().stream()
                .filter(CharMatcher.javaIsoControl()::matchesAnyOf)
                .forEach(
                        name ->
                                problems.add(
                                        "class \"%s\": XML cannot contain it; rename it", name));
        labels.images().stream()
                .map(LabeledImage::name)
                .filter(CharMatcher.javaIsoControl()::matchesAnyOf)
                .forEach(name -> problems.add("%s: XML cannot contain this name; rename it", name));
        problems.throwIfAny("CVAT");
    }

    private static final class Document {

        private final XMLStreamWriter xml;
        private final List<String> classes;
        private final boolean imageClasses;
        private int groups;

        Document(XMLStreamWriter xml, List<String> classes, boolean imageClasses) {
            this.xml = xml;
            this.classes = classes;
            this.imageClasses = imageClasses;
        }

        void write(List<LabeledImage> images) throws XMLStreamException {
            xml.writeStartDocument("UTF-8", "1.0");
            open("\n", "annotations");
            open("\n  ", "version");
            xml.writeCharacters("1.1");
            xml.writeEndElement();
            writeClasses();
            boolean hasSplits = images.stream().anyMatch(image -> image.split().isPresent());
            for (int i = 0; i < images.size(); i++) {
                write(images.get(i), i, hasSplits);
            }
            close("\n");
            xml.writeEndDocument();
        }

        private void writeClasses() throws XMLStreamException {
            open("\n  ", "meta");
            open("", "task");
            open("", "labels");
            for (String name : classes) {
                open("\n    ", "label");
                open("", "name");
                xml.writeCharacters(name);
                close("");
                close("");
            }
            close("");
            close("");
            close("\n  ");
        }

        private void write(LabeledImage image, int id, boolean hasSplits)
                throws XMLStreamException {
            open("\n  ", "image");
            attributes("id", String.valueOf(id), "name", image.name());
            if (hasSplits) {
                attributes("subset", image.split().orElse(Split.TRAIN).key());
            }
            attributes("width", String.valueOf(image.size().width()));
            attributes("height", String.valueOf(image.size().height()));
            for (Annotation object : image.regularObjects()) {
                write(object, image.size());
            }
            close("\n  ");
        }

        private void write(Annotation object, Size image) throws XMLStreamException {
            if (imageClasses) {
                open("\n    ", "tag");
                attributes("label", classes.get(object.label()), "source", "manual");
                xml.writeEndElement();
            } else if (object.segmentation() instanceof Segmentation.Polygons polygons) {
                groups++;
                for (double[] ring : polygons.rings()) {
                    openShape("polygon", object);
                    attributes("points", points(ring));
                    if (polygons.rings().size() > 1) {
                        attributes("group_id", String.valueOf(groups));
                    }
                    xml.writeEndElement();
                }
            } else if (object.segmentation() instanceof Segmentation.Runs runs) {
                writeMask(object, runs.mask(image));
            } else {
                Annotation.Bbox box = object.box();
                openShape("box", object);
                attributes("xtl", number(box.x()), "ytl", number(box.y()));
                attributes("xbr", number(box.x() + box.width()));
                attributes("ybr", number(box.y() + box.height()));
                xml.writeEndElement();
            }
        }

        /** Writes row-wise run lengths of the mask in its bounds, background first. */
        private void writeMask(Annotation object, Rle mask) throws XMLStreamException {
            Rle.Bounds bounds = mask.bounds();
            // The column-wise runs of the transposed mask are the row-wise runs of the mask.
            byte[] pixels =
                    mask.crop(bounds.y(), bounds.x(), new Size(bounds.height(), bounds.width()))
                            .decode();
            byte[] transposed = new byte[pixels.length];
            for (int i = 0; i < pixels.length; i++) {
                int row = i / bounds.width();
                int column = i % bounds.width();
                transposed[column * bounds.height() + row] = pixels[i];
            }
            Rle rows = Rle.encode(new Size(bounds.width(), bounds.height()), transposed);
            openShape("mask", object);
            attributes(
                    "rle",
                    IntStream.of(rows.counts())
                            .mapToObj(String::valueOf)
                            .collect(Collectors.joining(", ")));
            attributes("left", String.valueOf(bounds.x()), "top", String.valueOf(bounds.y()));
            attributes("width", String.valueOf(bounds.width()));
            attributes("height", String.valueOf(bounds.height()));
            xml.writeEndElement();
        }

        private void openShape(String shape, Annotation object) throws XMLStreamException {
            open("\n    ", shape);
            attributes("label", classes.get(object.label()), "source", "manual");
            attributes("occluded", "0", "z_order", "0");
        }

        private static String points(double... ring) {
            return IntStream.range(0, ring.length / 2)
                    .mapToObj(i -> number(ring[2 * i]) + "," + number(ring[2 * i + 1]))
                    .collect(Collectors.joining(";"));
        }

        private static String number(double value) {
            return Text.format("%.4f", value);
        }

        private void open(String indent, String name) throws XMLStreamException {
            xml.writeCharacters(indent);
            xml.writeStartElement(name);
        }

        private void close(String indent) throws XMLStreamException {
            xml.writeCharacters(indent);
            xml.writeEndElement();
        }

        private void attributes(String... namesAndValues) throws XMLStreamException {
            for (int i = 0; i < namesAndValues.length; i += 2) {
                xml.writeAttribute(namesAndValues[i], namesAndValues[i + 1]);
            }
        }
    }
}

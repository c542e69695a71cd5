package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.primitives.Doubles;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** Keys that tools add to COCO's format: the rotation of CVAT's boxes, Roboflow's categories. */
final class CocoExtras {

    private final Set<String> supercategories = new HashSet<>();
    private int rotated;

    /** Returns the text that the parser is at; nothing for any other value, which is skipped. */
    static String text(JsonParser parser) throws IOException {
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        String text = isText ? parser.getText() : "";
        parser.skipChildren();
        return text;
    }

    /**
     * Returns the scalar of a key of the object that the parser is at; nothing if there is none.
     */
    static String text(JsonParser parser, String wanted) throws IOException {
        String text = "";
        if (!parser.isExpectedStartObjectToken()) {
            parser.skipChildren();
            return text;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean isWanted = parser.currentName().equals(wanted);
            boolean isScalar = parser.nextToken().isScalarValue();
            text = isWanted && isScalar ? parser.getText() : text;
            parser.skipChildren();
        }
        return text;
    }

    /** Returns the degrees by which CVAT has rotated a box, 0 for none. */
    static double rotation(JsonParser parser) throws IOException {
        Double degrees = Doubles.tryParse(text(parser, "rotation"));
        return degrees != null && Double.isFinite(degrees) ? degrees : 0;
    }

    void addSupercategory(String category, String supercategory) {
        if (!supercategory.equals(category)) {
            supercategories.add(supercategory);
        }
    }

    /** Returns the upright box around a rotated one. Outlines are exported with their rotation. */
    Annotation.Bbox rotated(Annotation.Bbox box, double degrees, Segmentation outline) {
        if (degrees % 180 == 0 || !(outline instanceof Segmentation.None)) {
            return box;
        }
        rotated++;
        return box.rotated(degrees);
    }

    /** Reports rotated boxes, and categories that are above others and have no objects. */
    void warn(AnnotationTable table, String file, Consumer<Finding> findings) {
        if (rotated > 0) {
            findings.accept(
                    Finding.warning(
                            file,
                            "",
                            Text.format(
                                    "%s with attributes.rotation; read as the upright boxes around"
                                            + " the rotated ones",
                                    Count.of(rotated, "bbox"))));
        }
        Set<Long> used = new HashSet<>(table.annotationCategoryIds().asList());
        for (int i = 0; i < table.categoryNames().size(); i++) {
            String name = table.categoryNames().get(i);
            long id = table.categoryIds().get(i);
            if (supercategories.contains(name) && !used.contains(id)) {
                findings.accept(
                        Finding.warning(
                                file,
                                "category " + id,
                                Text.format(
                                        "\"%s\" has no objects and is the supercategory of others;"
                                                + " remove it from categories, or a class is trained"
                                                + " that never occurs",
                                        name)));
            }
        }
    }
}

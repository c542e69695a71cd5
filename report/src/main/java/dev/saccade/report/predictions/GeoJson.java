package dev.saccade.report.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Affine;
import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.Georeference;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Predictions of georeferenced TIFFs as GeoJSON in the CRS of the images. Coordinates are easting
 * and northing, or longitude and latitude. WGS 84 has no {@code crs} member, as in RFC 7946; other
 * systems have the {@code crs} member of GeoJSON 2008.
 */
final class GeoJson {

    private static final String NAME = "predictions.geojson";

    /** Names for images in several CRS. */
    private static final String NAMES = "predictions_epsg%d.geojson";

    private static final String UNKNOWN_NAME = "predictions_unknown_crs.geojson";

    private static final int WGS84 = 4326;
    private static final int UNKNOWN = 0;

    /** Keys of a prediction that become the geometry. */
    private static final Set<String> GEOMETRY = Set.of("x", "y", "width", "height", "segmentation");

    /** Features by EPSG code. */
    private final Map<Integer, ArrayNode> features = new TreeMap<>();

    /** Adds the predictions of an image; classes of a classifier cover the whole image. */
    void add(JsonNode entry, Georeference georeference) {
        ArrayNode target =
                features.computeIfAbsent(
                        georeference.epsg().orElse(UNKNOWN),
                        code -> Predictions.JSON.createArrayNode());
        Affine toCrs = georeference.toCrs();
        entry.path("objects").forEach(each -> target.add(feature(entry, each, each, toCrs)));
        entry.path("regions").forEach(each -> target.add(feature(entry, each, each, toCrs)));
        if (entry.path("classes").has(0)) {
            target.add(feature(entry, entry.path("classes").get(0), entry, toCrs));
        }
    }

    private static ObjectNode feature(
            JsonNode entry, JsonNode prediction, JsonNode shape, Affine toCrs) {
        ObjectNode feature = Predictions.JSON.createObjectNode().put("type", "Feature");
        feature.set("geometry", geometry(shape, toCrs));
        ObjectNode properties = feature.putObject("properties");
        properties.set("image", entry.get("image"));
        prediction
                .properties()
                .forEach(
                        each -> {
                            if (!GEOMETRY.contains(each.getKey())) {
                                properties.set(each.getKey(), each.getValue());
                            }
                        });
        return feature;
    }

    /** Returns the outlines of a mask; or the box, which is the image without x and y. */
    private static ObjectNode geometry(JsonNode shape, Affine toCrs) {
        ObjectNode geometry = Predictions.JSON.createObjectNode();
        List<ImmutableIntArray> outlines =
                shape.has("segmentation")
                        ? Contours.polygons(mask(shape.get("segmentation")))
                        : List.of();
        if (outlines.isEmpty()) {
            double left = shape.has("x") ? number(shape, "x") : 0;
            double top = shape.has("y") ? number(shape, "y") : 0;
            double right = left + number(shape, "width");
            double bottom = top + number(shape, "height");
            double[] box = {left, top, left, bottom, right, bottom, right, top};
            geometry.put("type", "Polygon").putArray("coordinates").add(ring(box, toCrs));
        } else {
            ArrayNode polygons = geometry.put("type", "MultiPolygon").putArray("coordinates");
            for (ImmutableIntArray outline : outlines) {
                polygons.addArray().add(ring(outline.stream().asDoubleStream().toArray(), toCrs));
            }
        }
        return geometry;
    }

    /** Returns a number as written in {@code predictions.json}. */
    private static double number(JsonNode shape, String key) {
        return Double.parseDouble(shape.get(key).asText());
    }

    private static Rle mask(JsonNode segmentation) {
        JsonNode size = segmentation.get("size");
        return Rle.fromString(
                new Size(size.get(0).asInt(), size.get(1).asInt()),
                segmentation.get("counts").asText());
    }

    /** Maps a polygon {@code x0, y0, ...} to a closed counterclockwise ring. */
    private static ArrayNode ring(double[] pixels, Affine toCrs) {
        int corners = pixels.length / 2;
        double area = 0;
        for (int i = 0; i < corners; i++) {
            int next = (i + 1) % corners;
            area += pixels[2 * i] * pixels[2 * next + 1] - pixels[2 * next] * pixels[2 * i + 1];
        }
        boolean isReversed = area * (toCrs.xx() * toCrs.yy() - toCrs.xy() * toCrs.yx()) < 0;
        ArrayNode ring = Predictions.JSON.createArrayNode();
        for (int i = 0; i <= corners; i++) {
            int at = 2 * ((isReversed ? corners - i : i) % corners);
            ring.addArray()
                    .add(toCrs.x(pixels[at], pixels[at + 1]))
                    .add(toCrs.y(pixels[at], pixels[at + 1]));
        }
        return ring;
    }

    /** Writes a file per CRS; returns a note for each. */
    List<String> write(OutputFolder folder) {
        List<String> notes = new ArrayList<>();
        features.forEach(
                (code, each) -> {
                    String name = features.size() == 1 ? NAME : nameOf(code);
                    folder.write(name, collection(code, each).toString().getBytes(UTF_8));
                    notes.add(
                            Text.format(
                                    "%s: %s in %s",
                                    name,
                                    Count.of(each.size(), "feature"),
                                    code == UNKNOWN
                                            ? "a CRS without EPSG code; set it in your GIS"
                                            : "EPSG:" + code));
                });
        return notes;
    }

    private static String nameOf(int code) {
        return code == UNKNOWN ? UNKNOWN_NAME : Text.format(NAMES, code);
    }

    private static ObjectNode collection(int code, ArrayNode features) {
        ObjectNode collection =
                Predictions.JSON.createObjectNode().put("type", "FeatureCollection");
        if (code == UNKNOWN) {
            collection.putNull("crs");
        } else if (code != WGS84) {
            collection
                    .putObject("crs")
                    .put("type", "name")
                    .putObject("properties")
                    .put("name", "urn:ogc:def:crs:EPSG::" + code);
        }
        collection.set("features", features);
        return collection;
    }
}

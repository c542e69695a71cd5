package dev.saccade.report.predictions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.structures.Affine;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.Georeference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

class GeoJsonTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Pixels of 10 x 20 m, north up. */
    private static final Affine TO_CRS = new Affine(10, 0, 500_000, 0, -20, 5_000_000);

    @TempDir Path folder;

    @Test
    void boxesAndMasksAreCounterclockwisePolygonsInTheCrs() throws IOException {
        Size size = new Size(4, 5);
        Rle ring = Rle.fromBox(size, 1, 0, 3, 3).minus(Rle.fromBox(size, 2, 1, 1, 1));
        Map<String, Object> box =
                Map.of("label", "car", "score", 0.5, "x", 0.1f, "y", 1, "width", 2, "height", 3);
        Map<String, Object> mask =
                Map.of(
                        "label",
                        "pond",
                        "segmentation",
                        Map.of("size", List.of(4, 5), "counts", ring.toCompressedString()));
        GeoJson geoJson = new GeoJson();
        geoJson.add(entry("objects", List.of(box, mask)), reference(32632));

        assertEquals(List.of("predictions.geojson: 2 features in EPSG:32632"), write(geoJson));
        assertEquals(
                JSON.readTree(
                        """
                        {"type": "FeatureCollection",
                         "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}},
                         "features": [
                          {"type": "Feature",
                           "geometry": {"type": "Polygon", "coordinates": [[
                            [500001.0, 4999980.0], [500001.0, 4999920.0], [500021.0, 4999920.0],
                            [500021.0, 4999980.0], [500001.0, 4999980.0]]]},
                           "properties": {"image": "a.tif", "label": "car", "score": 0.5}},
                          {"type": "Feature",
                           "geometry": {"type": "MultiPolygon", "coordinates": [[[
                            [500020.0, 5000000.0], [500010.0, 5000000.0], [500010.0, 4999940.0],
                            [500020.0, 4999940.0], [500020.0, 5000000.0]]],
                            [[[500040.0, 5000000.0], [500020.0, 5000000.0], [500020.0, 4999980.0],
                            [500030.0, 4999980.0], [500030.0, 4999960.0], [500020.0, 4999960.0],
                            [500020.0, 4999940.0], [500040.0, 4999940.0], [500040.0, 5000000.0]]]]},
                           "properties": {"image": "a.tif", "label": "pond"}}]}
                        """),
                read("predictions.geojson"));
    }

    @Test
    void writesAFilePerCrs() throws IOException {
        List<Object> classes =
                List.of(Map.of("label", "city", "score", 0.9), Map.of("label", "wood"));
        GeoJson geoJson = new GeoJson();
        geoJson.add(entry("classes", classes), reference(4326));
        geoJson.add(entry("classes", classes), reference(0));
        assertEquals(
                List.of(
                        "predictions_unknown_crs.geojson: 1 feature in a CRS without EPSG code; set"
                                + " it in your GIS",
                        "predictions_epsg4326.geojson: 1 feature in EPSG:4326"),
                write(geoJson));
        JsonNode wgs84 = read("predictions_epsg4326.geojson");
        assertEquals(false, wgs84.has("crs"));
        assertEquals(true, read("predictions_unknown_crs.geojson").get("crs").isNull());
        JsonNode feature = wgs84.get("features").get(0);
        assertEquals("city", feature.get("properties").get("label").asText());
        assertEquals(
                JSON.readTree(
                        "[[[500000.0, 5000000.0], [500000.0, 4999920.0], [500050.0, 4999920.0],"
                                + " [500050.0, 5000000.0], [500000.0, 5000000.0]]]"),
                feature.get("geometry").get("coordinates"));
    }

    private static JsonNode entry(String key, List<?> predictions) {
        return JSON.valueToTree(
                Map.of("image", "a.tif", "width", 5, "height", 4, key, predictions));
    }

    private static Georeference reference(int epsg) {
        return new Georeference(TO_CRS, epsg == 0 ? OptionalInt.empty() : OptionalInt.of(epsg));
    }

    private List<String> write(GeoJson geoJson) {
        try (OutputFolder out =
                OutputFolder.create(folder.resolve("found"), "predict", false, List.of())) {
            List<String> notes = geoJson.write(out);
            out.finish();
            return notes;
        }
    }

    private JsonNode read(String name) throws IOException {
        return JSON.readTree(Files.readString(folder.resolve("found").resolve(name), UTF_8));
    }
}

package dev.saccade.datasets.convert.formats;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;

import dev.saccade.core.Count;
import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.JsonValue;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Label Studio's JSON export: boxes, rotated boxes, polygons, ellipses and brush masks.
 *
 * <p>Uses the newest annotation of each task. Images are found by file name, with or without the
 * prefix of an upload. Choices become the classes of images if there are no regions. Reports
 * keypoints, relations and other results that are left out.
 */
final class LabelStudioReader implements LabelReader {

    private static final String FORMAT = "Label Studio";

    /** Prefix of uploaded files, such as {@code 1a2b3c4d-photo.jpg}. */
    private static final Pattern UPLOAD_PREFIX = Pattern.compile("^[0-9a-f]{8}-");

    private static final String LOCAL_FILES = "?d=";

    @Override
    public SourceLabels read(ConversionContext context) {
        List<ParsedImage> images = new ArrayList<>();
        ImageClasses choices = new ImageClasses();
        for (String file : context.folder().ending(".json")) {
            Optional<String> format = LabelFormat.guess(context.folder().path(file));
            if (format.isEmpty() || format.get().equals(FORMAT)) {
                new File(context, file, images, choices, new TreeMap<>()).read();
            }
        }
        choices.addTo(images, context, "choices");
        Set<String> labeled = images.stream().map(ParsedImage::image).collect(Collectors.toSet());
        context.reportUnlabeled(context.folder().images(), labeled, "an annotation");
        Optional<List<String>> classes = context.classNames("labels.txt", "classes.txt");
        return LabelBuilder.build(context, classes, images, Map.of());
    }

    /** A file of tasks; {@code dropped} counts results by the reason why they are left out. */
    private record File(
            ConversionContext context,
            String file,
            List<ParsedImage> images,
            ImageClasses choices,
            Map<String, Integer> dropped) {

        void read() {
            String place = context.place(file);
            context.attempt(place, this::parse);
            dropped.forEach(
                    (reason, count) ->
                            context.warning(place, "%s: %s", Count.of(count, "result"), reason));
        }

        private void parse() {
            try (InputStream stream = RegularFile.open(context.folder().path(file));
                    JsonParser json = Json.parser(stream)) {
                try {
                    if (json.nextToken() != JsonToken.START_ARRAY) {
                        throw SaccadeException.user("expected a list of tasks");
                    }
                    while (json.nextToken() != JsonToken.END_ARRAY) {
                        readTask(JsonValue.read(json));
                    }
                } catch (JsonProcessingException e) {
                    JsonLocation at = Json.location(e, json);
                    throw SaccadeException.user(
                            "invalid JSON in line %d, column %d: %s",
                            at.getLineNr(), at.getColumnNr(), e.getOriginalMessage());
                }
            } catch (IOException e) {
                throw SaccadeException.io(e, "cannot be read: %s", e.getMessage());
            }
        }

        private void drop(String reason) {
            dropped.merge(reason, 1, Integer::sum);
        }

        private void readTask(JsonValue task) {
            if (task.get("annotations").isMissing()) {
                throw SaccadeException.user(
                        "tasks have no annotations; export the project as JSON, not as JSON-MIN");
            }
            List<JsonValue> annotations =
                    task.get("annotations").entries().stream()
                            .filter(annotation -> !annotation.get("was_cancelled").isTrue())
                            .toList();
            if (annotations.isEmpty()) {
                drop("tasks without an annotation are skipped");
                return;
            }
            if (annotations.size() > 1) {
                drop("tasks with several annotations; the newest of each is used");
            }
            JsonValue newest = annotations.get(0);
            for (JsonValue annotation : annotations) {
                // Times are in ISO 8601, in the order of text.
                if (updated(annotation).compareTo(updated(newest)) > 0) {
                    newest = annotation;
                }
            }
            String id = Long.toString((long) task.get("id").number());
            ParsedImage parsed = new ParsedImage(context.place(file) + " (task " + id + ")");
            readImage(task, parsed);
            readResults(newest.get("result").entries(), parsed);
            images.add(parsed.limitFindings());
        }

        private static String updated(JsonValue annotation) {
            String created = annotation.get("created_at").text();
            String updated = annotation.get("updated_at").text();
            return updated.isEmpty() ? created : updated;
        }

        /** Finds the only image in the data of a task. */
        private void readImage(JsonValue task, ParsedImage parsed) {
            List<String> names =
                    task.get("data").fields().values().stream()
                            .map(JsonValue::text)
                            .filter(text -> SourceFolder.isImage(path(text)))
                            .toList();
            if (names.size() != 1) {
                parsed.fault(
                        "data has %s, expected one image per task",
                        Count.of(names.size(), "image"));
                return;
            }
            String path = path(names.get(0));
            String name = SourceFolder.fileName(path);
            String parent = SourceFolder.parent(file);
            Optional<String> image = context.folder().find(parent, path);
            image = image.or(() -> context.folder().find(parent, name));
            String original = UPLOAD_PREFIX.matcher(name).replaceFirst("");
            image = image.or(() -> context.folder().find(parent, original));
            parsed.setImage(image, path);
            parsed.setSplit(image.flatMap(Split::ofPath));
        }

        /** Returns the path in an address, without percent encoding. */
        private static String path(String address) {
            int local = address.indexOf(LOCAL_FILES);
            String path =
                    local >= 0
                            ? address.substring(local + LOCAL_FILES.length())
                            : address.replaceFirst("[?#].*$", "");
            try {
                return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                return path;
            }
        }

        private void readResults(List<JsonValue> results, ParsedImage parsed) {
            Set<String> labeled =
                    results.stream()
                            .filter(result -> isRegion(result.get("type").text()))
                            .map(result -> result.get("id").text())
                            .collect(Collectors.toSet());
            for (JsonValue result : results) {
                String type = result.get("type").text();
                String id = result.get("id").text();
                String place = parsed.place() + " region " + id;
                if (isRegion(type)) {
                    parsed.attempt(place, () -> addObject(result, place, parsed));
                } else if (type.equals("choices")) {
                    result.get("value")
                            .get("choices")
                            .entries()
                            .forEach(choice -> choices.add(parsed, place, choice.text()));
                } else if (!isShape(type) || !labeled.contains(id)) {
                    drop(
                            isShape(type)
                                    ? "regions without a label are left out"
                                    : "type " + type + " is not an object; left out");
                }
            }
        }

        private static boolean isRegion(String type) {
            return Set.of(
                            "rectanglelabels",
                            "polygonlabels",
                            "brushlabels",
                            "ellipselabels",
                            "labels")
                    .contains(type);
        }

        private static boolean isShape(String type) {
            return Set.of("rectangle", "polygon", "brush", "ellipse").contains(type);
        }

        private void addObject(JsonValue result, String place, ParsedImage parsed) {
            LabelStudioRegion region = new LabelStudioRegion(result);
            List<String> labels = region.labels();
            if (labels.isEmpty() || labels.get(0).isEmpty()) {
                drop("regions without a label are left out");
                return;
            }
            if (labels.size() > 1) {
                drop("regions with several labels; the first of each is used");
            }
            parsed.declare(region.width(), region.height());
            parsed.objects().add(new ParsedObject(place, labels.get(0), region.outline()));
        }
    }
}

package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Ints;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.labels.ClassName;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The classes and photographs of a data set of YOLO: those of Ultralytics' {@code data.yaml}, of
 * darknet's {@code obj.data} and {@code obj.names}, or of a file {@code classes.txt} and whatever
 * photographs there are.
 */
final class YoloData {

    private static final String[] NAMES = {
        "classes.txt", "labels/classes.txt", "obj.names", "data/obj.names", "classes.names"
    };

    /** How YAML writes no value. */
    private static final Set<String> NULL = Set.of("", "~", "null", "Null", "NULL");

    private final Reading reading;
    private final SourceFolder folder;
    private final Listing listing = new Listing();
    private final Set<String> files = new LinkedHashSet<>();
    private ImmutableList<String> names = ImmutableList.of();
    private String source = "";
    private int keypoints;

    private YoloData(Reading reading) {
        this.reading = reading;
        this.folder = reading.folder();
    }

    /** Returns what the data set says of itself; what is wrong with that is told. */
    static YoloData find(Reading reading) {
        YoloData data = new YoloData(reading);
        List<String> yamls = data.yamls();
        if (yamls.size() > 1) {
            reading.error(
                    reading.folder().toString(),
                    Text.format(
                            "has several lists of classes, %s; expected one, such as data.yaml",
                            String.join(", ", yamls)));
        }
        Optional<String> darknet =
                reading.folder().ending(".data").stream().findFirst().filter(f -> yamls.isEmpty());
        if (!yamls.isEmpty()) {
            data.readYaml(yamls.get(0));
        } else if (darknet.isPresent()) {
            data.readDarknet(darknet.get());
        }
        if (data.names.isEmpty()) {
            data.readNames();
        }
        if (data.listing.parts().isEmpty()) {
            reading.folder()
                    .photographs()
                    .forEach(photo -> data.listing.add(photo, Part.ofPath(photo), ""));
        }
        data.listing.tellRepeated(reading);
        return data;
    }

    /** Returns the names of the classes. */
    ImmutableList<String> names() {
        return names;
    }

    /** Returns the file that the names are from. */
    String source() {
        return source;
    }

    /** Returns how many numbers of points stand behind each box. */
    int keypoints() {
        return keypoints;
    }

    /** Returns the photographs, with what they are for. */
    ImmutableMap<String, Optional<Part>> photographs() {
        return listing.parts();
    }

    /** Returns the files of the data set that are no labels. */
    Set<String> files() {
        return files;
    }

    /** Returns whether a text file looks like labels. */
    static boolean isLabels(Path file) {
        return LabelFormat.guess(file).filter("YOLO"::equals).isPresent();
    }

    private List<String> yamls() {
        List<String> candidates = new ArrayList<>(folder.ending(".yaml"));
        candidates.addAll(folder.ending(".yml"));
        candidates.removeIf(file -> !isLabels(folder.path(file)));
        for (String usual : List.of("data.yaml", "dataset.yaml", "data.yml")) {
            if (candidates.contains(usual)) {
                return List.of(usual);
            }
        }
        return candidates;
    }

    private void readYaml(String file) {
        source = reading.place(file);
        try {
            ConfigNode.Mapping yaml =
                    ConfigFile.parseTexts(TextFile.text(folder.path(file)), reading.place(file));
            yaml.get("names").ifPresent(this::readNames);
            countOf(yaml);
            yaml.get("kpt_shape").ifPresent(this::readKeypoints);
            String from = SourceFolder.parent(file);
            Optional<String> path =
                    yaml.get("path").flatMap(YoloData::text).flatMap(p -> folder.find(from, p));
            for (Map.Entry<String, ConfigNode> entry : yaml.entries().entrySet()) {
                Optional<Part> part = Part.named(entry.getKey());
                if (part.isPresent() && isGiven(entry.getValue())) {
                    readPart(part.get(), entry.getValue(), path.map(p -> p + "/").orElse(from));
                }
            }
        } catch (SaccadeException e) {
            reading.report(Finding.error(reading.place(file), e));
        }
    }

    private static boolean isGiven(ConfigNode node) {
        return !(node instanceof ConfigNode.Nothing) && text(node).filter(NULL::contains).isEmpty();
    }

    private void readNames(ConfigNode node) {
        String place = node.origin().toString();
        if (node instanceof ConfigNode.Sequence list) {
            names = list.items().stream().map(this::name).collect(ImmutableList.toImmutableList());
        } else if (node instanceof ConfigNode.Mapping map) {
            TreeMap<Integer, String> byNumber = new TreeMap<>();
            map.entries()
                    .forEach(
                            (key, value) -> {
                                if (!key.matches("\\d{1,6}")
                                        || byNumber.putIfAbsent(Integer.parseInt(key), name(value))
                                                != null) {
                                    reading.error(
                                            value.origin().toString(),
                                            Text.format(
                                                    "names: got %s, expected each class index once",
                                                    key));
                                }
                            });
            if (!byNumber.isEmpty() && byNumber.lastKey() != byNumber.size() - 1) {
                reading.error(
                        place,
                        Text.format(
                                "names: %d names, but the last is of class %d; expected 0 to %d",
                                byNumber.size(), byNumber.lastKey(), byNumber.size() - 1));
            }
            names = ImmutableList.copyOf(byNumber.values());
        } else {
            reading.error(place, Text.format("names: got %s, expected a list", node.describe()));
        }
        ClassNames.requireDistinct(place, names, reading::report);
    }

    private String name(ConfigNode node) {
        String name = text(node).map(ClassName::of).orElse("");
        if (name.isEmpty()) {
            reading.error(
                    node.origin().toString(),
                    Text.format("names: got %s, expected the name of a class", node.describe()));
        }
        return name;
    }

    /** Names are made where there is only a number of them, as Ultralytics does. */
    private void countOf(ConfigNode.Mapping yaml) {
        Optional<ConfigNode> node = yaml.get("nc");
        if (node.isEmpty()) {
            return;
        }
        Integer count = text(node.get()).map(Ints::tryParse).orElse(null);
        boolean isCount = count != null && count > 0 && count <= 100_000;
        String place = node.get().origin().toString();
        if (!isCount) {
            reading.error(
                    place, Text.format("nc: got %s, expected a number", node.get().describe()));
            return;
        }
        if (names.isEmpty()) {
            ImmutableList.Builder<String> made = ImmutableList.builder();
            for (int i = 0; i < count; i++) {
                made.add("class_" + i);
            }
            names = made.build();
        } else if (names.size() != count) {
            reading.error(place, Text.format("nc: %d classes, but %d names", count, names.size()));
        }
    }

    private void readKeypoints(ConfigNode node) {
        keypoints = 1;
        if (node instanceof ConfigNode.Sequence shape) {
            for (ConfigNode item : shape.items()) {
                Integer number = text(item).map(Ints::tryParse).orElse(null);
                keypoints *= number != null && number > 0 && number < 1000 ? number : 1;
            }
        }
        reading.note("points of the body (kpt_shape) are not read, only boxes");
    }

    private static Optional<String> text(ConfigNode node) {
        if (node instanceof ConfigNode.Scalar scalar && scalar.value() instanceof String text) {
            return Optional.of(text);
        }
        return Optional.empty();
    }

    private void readPart(Part part, ConfigNode node, String from) {
        List<ConfigNode> items =
                node instanceof ConfigNode.Sequence list ? list.items() : List.of(node);
        for (ConfigNode item : items) {
            String place = item.origin().toString();
            Optional<String> path = text(item);
            Optional<String> found = path.flatMap(p -> folder.find(from, p));
            if (found.isPresent()) {
                list(part, found.get(), place);
            } else if (part == Part.TEST) {
                reading.warning(
                        place, Text.format("test: %s is not in the folder", path.orElse("")));
            } else {
                reading.error(
                        place,
                        Text.format(
                                "%s: %s is not in %s, expected a folder of photographs or a list of them",
                                part.key(), path.orElseGet(item::describe), folder.toString()));
            }
        }
    }

    /** Lists the photographs of a folder, or of a text file that names them. */
    private void list(Part part, String path, String place) {
        if (path.endsWith(".txt")) {
            readList(part, path);
            return;
        }
        String start = path.isEmpty() ? "" : path + "/";
        List<String> inside =
                folder.photographs().stream().filter(photo -> photo.startsWith(start)).toList();
        inside.forEach(photo -> listing.add(photo, Optional.of(part), place));
        if (inside.isEmpty()) {
            reading.error(
                    place, Text.format("%s: %s has no photograph", part.key(), folder.path(path)));
        }
    }

    private void readList(Part part, String file) {
        files.add(file);
        try {
            List<String> lines = TextFile.lines(folder.path(file));
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                if (!line.isEmpty()) {
                    String place = reading.place(file) + ":" + (i + 1);
                    Optional<String> photo = folder.find(SourceFolder.parent(file), line);
                    if (photo.isPresent()) {
                        listing.add(photo.get(), Optional.of(part), reading.place(file));
                    } else {
                        reading.error(place, "there is no photograph " + line);
                    }
                }
            }
        } catch (SaccadeException e) {
            reading.report(Finding.error(reading.place(file), e));
        }
    }

    /** Reads darknet's file of {@code key = value}, in which {@code valid} is what is measured. */
    private void readDarknet(String file) {
        files.add(file);
        try {
            List<String> lines = TextFile.lines(folder.path(file));
            for (int i = 0; i < lines.size(); i++) {
                String[] words = lines.get(i).split("=", 2);
                if (words.length < 2) {
                    continue;
                }
                String key = words[0].strip();
                Optional<String> found = folder.find(SourceFolder.parent(file), words[1].strip());
                Optional<Part> part = Part.named(key);
                if (part.isPresent() && found.isPresent()) {
                    readList(part.get(), found.get());
                } else if (key.equals("names") && found.isPresent()) {
                    source = reading.place(found.get());
                    names = ClassNames.read(folder.path(found.get()), reading::report);
                } else if (part.isPresent() || key.equals("names")) {
                    reading.warning(
                            reading.place(file) + ":" + (i + 1),
                            Text.format("%s is not in the folder", words[1].strip()));
                }
            }
        } catch (SaccadeException e) {
            reading.report(Finding.error(reading.place(file), e));
        }
    }

    private void readNames() {
        Optional<String> file =
                folder.first(NAMES)
                        .or(() -> folder.ending(".names").stream().findFirst())
                        .or(() -> folder.ending("/classes.txt").stream().findFirst());
        if (file.isPresent()) {
            files.add(file.get());
            source = reading.place(file.get());
            names = ClassNames.read(folder.path(file.get()), reading::report);
        }
        if (names.isEmpty()) {
            reading.error(
                    folder.toString(),
                    "labels of YOLO have numbers of classes, but no file names them; expected"
                            + " names in data.yaml, or a name a line in classes.txt");
        }
    }
}

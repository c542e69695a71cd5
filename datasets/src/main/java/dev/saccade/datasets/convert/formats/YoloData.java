package dev.saccade.datasets.convert.formats;

import com.google.common.primitives.Ints;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.TextFile;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Classes and images of a YOLO data set: from Ultralytics' {@code data.yaml}, from darknet's {@code
 * obj.data} and {@code obj.names}, or from {@code classes.txt} with all images of the folder.
 */
final class YoloData {

    private static final String[] NAMES = {
        "classes.txt", "labels/classes.txt", "obj.names", "data/obj.names", "classes.names"
    };

    private static final Set<String> NULL = Set.of("", "~", "null", "Null", "NULL");

    private static final int MAX_CLASSES = 100_000;

    private final ConversionContext context;
    private final SourceFolder folder;
    private final SplitLists lists;
    private final Set<String> files = new LinkedHashSet<>();
    private List<String> names = List.of();
    private String source = "";
    private int keypoints;

    private YoloData(ConversionContext context) {
        this.context = context;
        this.folder = context.folder();
        this.lists = new SplitLists(context);
    }

    static YoloData find(ConversionContext context) {
        YoloData data = new YoloData(context);
        SourceFolder folder = context.folder();
        List<String> yamls = data.yamls();
        if (yamls.size() > 1) {
            context.error(
                    folder.toString(),
                    "has several YAML files with class names, %s; keep one, such as data.yaml",
                    String.join(", ", yamls));
        }
        if (yamls.isEmpty()) {
            folder.ending(".data").stream().findFirst().ifPresent(data::readDarknet);
        } else {
            String file = yamls.get(0);
            data.source = context.place(file);
            context.attempt(data.source, () -> data.readYaml(file));
        }
        if (data.names.isEmpty()) {
            data.readNames();
        }
        if (data.splits().isEmpty()) {
            folder.images().forEach(image -> data.lists.add(image, Split.ofPath(image), ""));
        }
        data.lists.reportRepeated();
        return data;
    }

    List<String> names() {
        return names;
    }

    String source() {
        return source;
    }

    /** Returns the number of keypoint values after each box. */
    int keypoints() {
        return keypoints;
    }

    Map<String, Optional<Split>> splits() {
        return lists.splits();
    }

    Set<String> files() {
        return files;
    }

    static boolean isLabels(Path file) {
        return LabelFormat.guess(file).filter("YOLO"::equals).isPresent();
    }

    private List<String> yamls() {
        List<String> candidates =
                Stream.of(".yaml", ".yml")
                        .flatMap(suffix -> folder.ending(suffix).stream())
                        .filter(file -> isLabels(folder.path(file)))
                        .toList();
        return Stream.of("data.yaml", "dataset.yaml", "data.yml")
                .filter(candidates::contains)
                .findFirst()
                .map(List::of)
                .orElse(candidates);
    }

    private void readYaml(String file) {
        ConfigNode.Mapping yaml =
                ConfigFile.parseAsStrings(TextFile.text(folder.path(file)), context.place(file));
        yaml.get("names").ifPresent(this::readNames);
        yaml.get("nc").ifPresent(this::readCount);
        yaml.get("kpt_shape").ifPresent(this::readKeypoints);
        String parent = SourceFolder.parent(file);
        Optional<String> path =
                yaml.get("path").flatMap(YoloData::text).flatMap(p -> folder.find(parent, p));
        String from = path.map(p -> p + "/").orElse(parent);
        yaml.entries()
                .forEach(
                        (key, node) ->
                                Split.named(key)
                                        .filter(split -> isGiven(node))
                                        .ifPresent(split -> readSplit(split, node, from)));
    }

    private static Optional<String> text(ConfigNode node) {
        return node instanceof ConfigNode.Scalar scalar && scalar.value() instanceof String text
                ? Optional.of(text)
                : Optional.empty();
    }

    private static boolean isGiven(ConfigNode node) {
        return !(node instanceof ConfigNode.Null) && text(node).filter(NULL::contains).isEmpty();
    }

    private void readNames(ConfigNode node) {
        String place = node.origin().toString();
        if (node instanceof ConfigNode.Sequence list) {
            names = list.items().stream().map(this::name).toList();
        } else if (node instanceof ConfigNode.Mapping map) {
            names = namesByIndex(map);
        } else {
            context.error(place, "names: got %s, expected a list", node.describe());
        }
        context.requireDistinct(place, names);
    }

    private List<String> namesByIndex(ConfigNode.Mapping map) {
        TreeMap<Integer, String> byIndex = new TreeMap<>();
        for (Map.Entry<String, ConfigNode> entry : map.entries().entrySet()) {
            String key = entry.getKey();
            boolean isIndex = key.matches("\\d{1,6}");
            if (!isIndex
                    || byIndex.putIfAbsent(Integer.valueOf(key), name(entry.getValue())) != null) {
                context.error(
                        entry.getValue().origin().toString(),
                        "names: got %s, expected each class index once",
                        key);
            }
        }
        if (!byIndex.isEmpty() && byIndex.lastKey() != byIndex.size() - 1) {
            context.error(
                    map.origin().toString(),
                    "names: got %d names, but the largest class index is %d; expected 0 to %d",
                    byIndex.size(),
                    byIndex.lastKey(),
                    byIndex.size() - 1);
        }
        return List.copyOf(byIndex.values());
    }

    private String name(ConfigNode node) {
        String name = text(node).map(ClassName::of).orElse("");
        if (name.isEmpty()) {
            context.error(
                    node.origin().toString(),
                    "names: got %s, expected a class name",
                    node.describe());
        }
        return name;
    }

    /** Generates names if only their number is stated, as Ultralytics does. */
    private void readCount(ConfigNode node) {
        int count = positive(node).filter(n -> n <= MAX_CLASSES).orElse(0);
        String place = node.origin().toString();
        if (count == 0) {
            context.error(place, "nc: got %s, expected a positive integer", node.describe());
        } else if (names.isEmpty()) {
            names = IntStream.range(0, count).mapToObj(i -> "class_" + i).toList();
        } else if (names.size() != count) {
            context.error(place, "nc: got %d classes, but %d names", count, names.size());
        }
    }

    private static Optional<Integer> positive(ConfigNode node) {
        return text(node).map(Ints::tryParse).filter(number -> number > 0);
    }

    private void readKeypoints(ConfigNode node) {
        keypoints = 1;
        if (node instanceof ConfigNode.Sequence shape) {
            for (ConfigNode item : shape.items()) {
                keypoints *= positive(item).filter(number -> number < 1000).orElse(1);
            }
        }
        context.note("keypoints (kpt_shape) are ignored; only boxes are read");
    }

    private void readSplit(Split split, ConfigNode node, String from) {
        List<ConfigNode> items =
                node instanceof ConfigNode.Sequence list ? list.items() : List.of(node);
        for (ConfigNode item : items) {
            String place = item.origin().toString();
            Optional<String> path = text(item);
            Optional<String> found = path.flatMap(p -> folder.find(from, p));
            if (found.isPresent()) {
                list(split, found.get(), place);
            } else if (split == Split.TEST) {
                context.warning(place, "test: %s is not in the folder", path.orElse(""));
            } else {
                context.error(
                        place,
                        "%s: %s is not in %s; expected a folder or list of images",
                        split.key(),
                        path.orElseGet(item::describe),
                        folder);
            }
        }
    }

    private void list(Split split, String path, String place) {
        if (path.endsWith(".txt")) {
            readList(split, path);
            return;
        }
        String start = path.isEmpty() ? "" : path + "/";
        List<String> inside =
                folder.images().stream().filter(image -> image.startsWith(start)).toList();
        inside.forEach(image -> lists.add(image, Optional.of(split), place));
        if (inside.isEmpty()) {
            context.error(place, "%s: %s has no images", split.key(), folder.path(path));
        }
    }

    private void readList(Split split, String file) {
        files.add(file);
        for (TextFile.Line line : context.lines(file)) {
            folder.find(SourceFolder.parent(file), line.text())
                    .ifPresentOrElse(
                            image -> lists.add(image, Optional.of(split), context.place(file)),
                            () ->
                                    context.error(
                                            line.place(), "image %s does not exist", line.text()));
        }
    }

    private void readDarknet(String file) {
        files.add(file);
        for (TextFile.Line line : context.lines(file)) {
            String[] words = line.text().split("\\s*=\\s*", 2);
            Optional<Split> split = Split.named(words[0]);
            boolean isNames = words[0].equals("names");
            if (words.length < 2 || (split.isEmpty() && !isNames)) {
                continue;
            }
            Optional<String> found = folder.find(SourceFolder.parent(file), words[1]);
            if (found.isEmpty()) {
                context.warning(line.place(), "%s is not in the folder", words[1]);
            } else if (isNames) {
                readNames(found.get());
            } else {
                readList(split.orElseThrow(), found.get());
            }
        }
    }

    private void readNames(String file) {
        source = context.place(file);
        names = context.readClassNames(file);
    }

    private void readNames() {
        Optional<String> file =
                folder.first(NAMES)
                        .or(() -> folder.ending(".names").stream().findFirst())
                        .or(() -> folder.ending("/classes.txt").stream().findFirst());
        file.ifPresent(files::add);
        file.ifPresent(this::readNames);
        if (names.isEmpty()) {
            context.error(
                    folder.toString(),
                    "YOLO labels use class indices, but no class names were found; add names to"
                            + " data.yaml, or create classes.txt with one name per line");
        }
    }
}

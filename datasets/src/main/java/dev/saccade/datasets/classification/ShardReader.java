package dev.saccade.datasets.classification;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.google.common.base.Ascii;
import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.primitives.Ints;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.classification.WebDataset.Entry;
import dev.saccade.datasets.convert.source.TextFile;
import dev.saccade.datasets.image.ImageNames;
import dev.saccade.datasets.image.TarArchive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Reads the images and classes of shards; reports all faults. */
final class ShardReader {

    private static final JsonFactory JSON =
            JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
    private static final int MAX_LABEL_BYTES = 1 << 20;
    private static final int MAX_NAME = 1000;
    private static final int MAX_SHOWN = 3;

    /** An image with its label as text. */
    private record Labeled(TarArchive archive, Path shard, String name, String label) {}

    /** Names of the files of a sample in its archive; null if missing. */
    private static final class Sample {
        String image;
        String label;
    }

    private final List<String> classes;
    private final Findings findings;

    ShardReader(List<String> classes, Findings findings) {
        this.classes = new ArrayList<>(classes);
        this.findings = findings;
    }

    /** Reads a text file with a class name per line. */
    static List<String> classes(Path file, Findings findings) {
        List<String> names = new ArrayList<>();
        findings.attempt(file.toString(), () -> names.addAll(lines(file)));
        int blank = names.indexOf("");
        if (blank >= 0) {
            findings.error(
                    file + ":" + (blank + 1),
                    "the line is blank, which would shift the indices of the next classes; delete"
                            + " the line");
        }
        Set<String> seen = new HashSet<>();
        names.stream()
                .filter(name -> !name.isEmpty() && !seen.add(name))
                .distinct()
                .forEach(
                        name -> findings.error(file.toString(), "class \"%s\" occurs twice", name));
        return names;
    }

    private static List<String> lines(Path file) {
        if (!Files.exists(file)) {
            throw SaccadeException.user(
                    "%s: no such file; classes_file names a file with class names", file);
        }
        String text = TextFile.text(file).stripTrailing();
        if (text.isEmpty()) {
            throw SaccadeException.user("%s: is empty, expected a class name per line", file);
        }
        return text.lines().map(String::strip).toList();
    }

    /** Returns the given class names, or the labels of all samples in alphabetical order. */
    List<String> classes() {
        return classes;
    }

    /** Returns the samples of each shard. */
    List<List<Entry>> read(List<Path> shards) {
        List<List<Labeled>> labeled = new ArrayList<>();
        for (Path shard : shards) {
            List<Labeled> samples = new ArrayList<>();
            findings.attempt(shard.toString(), () -> read(shard, samples));
            labeled.add(samples);
        }
        if (classes.isEmpty()) {
            addClasses(labeled);
        }
        Map<String, Integer> indices = new HashMap<>();
        for (int i = 0; i < classes.size(); i++) {
            indices.put(classes.get(i), i);
        }
        List<List<Entry>> entries = new ArrayList<>();
        for (List<Labeled> shard : labeled) {
            List<Entry> known = new ArrayList<>();
            shard.forEach(sample -> add(sample, indices, known));
            entries.add(known);
        }
        if (!findings.hasErrors() && entries.stream().allMatch(List::isEmpty)) {
            findings.error(
                    shards.get(0).toString(),
                    "has no samples; expected KEY.jpg with KEY.cls or KEY.json");
        }
        return entries;
    }

    private void addClasses(List<List<Labeled>> shards) {
        TreeSet<String> names = new TreeSet<>();
        shards.forEach(shard -> shard.forEach(sample -> names.add(sample.label)));
        if (!names.isEmpty() && names.stream().allMatch(name -> Ints.tryParse(name) != null)) {
            findings.error(
                    "web_dataset",
                    "labels are class indices, but no class names are set; set classes or"
                            + " classes_file");
        }
        classes.addAll(names);
    }

    private void add(Labeled sample, Map<String, Integer> indices, List<Entry> entries) {
        Integer named = indices.get(sample.label);
        Integer label = named != null ? named : Ints.tryParse(sample.label);
        if (label == null || label < 0 || label >= classes.size()) {
            findings.error(
                    sample.shard.resolve(sample.name).toString(),
                    "got label \"%s\", expected a class name or an index from 0 to %d",
                    sample.label,
                    classes.size() - 1);
        } else {
            entries.add(new Entry(sample.archive, sample.shard, sample.name, label));
        }
    }

    private void read(Path shard, List<Labeled> samples) {
        TarArchive archive = TarArchive.open(shard);
        archive.faults().forEach(fault -> findings.error(shard.toString(), "%s", fault));
        Map<String, Sample> byKey = new LinkedHashMap<>();
        Map<String, Integer> skipped = new TreeMap<>();
        for (String name : archive.entries().keySet()) {
            group(shard, name, byKey, skipped);
        }
        skipped.forEach(
                (suffix, count) ->
                        findings.warning(
                                shard.toString(),
                                "skips %s (%s); only KEY.cls, KEY.json and images such as KEY.jpg"
                                        + " are read",
                                Count.of(count, "file"),
                                suffix));
        List<String> unlabeled = new ArrayList<>();
        byKey.forEach(
                (key, sample) -> {
                    if (sample.image == null || sample.label == null) {
                        unlabeled.add(key);
                    } else {
                        label(archive, shard, sample)
                                .map(label -> new Labeled(archive, shard, sample.image, label))
                                .ifPresent(samples::add);
                    }
                });
        if (byKey.isEmpty()) {
            findings.warning(
                    shard.toString(), "has no samples; expected KEY.jpg with KEY.cls or KEY.json");
        }
        if (!unlabeled.isEmpty()) {
            findings.warning(
                    shard.toString(),
                    "skips %s without image or label: %s",
                    Count.of(unlabeled.size(), "sample"),
                    Count.first(unlabeled, MAX_SHOWN));
        }
    }

    /** Adds a file to its sample; the key ends at the first dot of the file name. */
    private void group(
            Path shard, String name, Map<String, Sample> byKey, Map<String, Integer> skipped) {
        int file = name.lastIndexOf('/') + 1;
        int dot = name.indexOf('.', file);
        String suffix = dot < 0 ? "" : Ascii.toLowerCase(name.substring(dot));
        boolean isImage = ImageNames.ENDINGS.contains(suffix);
        boolean isLabel = suffix.equals(".cls") || suffix.equals(".json");
        if (dot == file || !(isImage || isLabel)) {
            skipped.merge(dot == file ? "hidden files" : "*" + suffix, 1, Integer::sum);
            return;
        }
        Sample sample = byKey.computeIfAbsent(name.substring(0, dot), key -> new Sample());
        if (isImage && sample.image != null) {
            findings.error(
                    shard.toString(),
                    "%s and %s have the same key; rename one of them",
                    sample.image,
                    name);
        } else if (isImage) {
            sample.image = name;
        } else if (sample.label == null) {
            sample.label = name;
        } else if (isJson(sample.label) == suffix.equals(".json")) {
            findings.error(
                    shard.toString(),
                    "%s and %s have the same key; delete one of them",
                    sample.label,
                    name);
        } else {
            sample.label = isJson(name) ? sample.label : name;
            skipped.merge("*.json next to *.cls", 1, Integer::sum);
        }
    }

    private Optional<String> label(TarArchive archive, Path shard, Sample sample) {
        String file = shard.resolve(sample.label).toString();
        TarArchive.Entry entry = archive.entries().get(sample.label);
        if (entry.size() > MAX_LABEL_BYTES) {
            findings.error(
                    file, "has %d bytes, expected at most %d", entry.size(), MAX_LABEL_BYTES);
            return Optional.empty();
        }
        try {
            byte[] content = archive.read(entry);
            String label = isJson(sample.label) ? jsonLabel(content) : text(content);
            requireName(label);
            return Optional.of(label);
        } catch (JsonProcessingException e) {
            Iterable<String> parts = Splitter.on(" (start marker").split(e.getOriginalMessage());
            String reason = parts.iterator().next();
            findings.error(file, "is not valid JSON: %s", reason);
        } catch (CharacterCodingException e) {
            findings.error(file, "is not UTF-8 text; save the label as UTF-8");
        } catch (IOException e) {
            findings.error(file, "cannot be read: %s", e.getMessage());
        } catch (SaccadeException e) {
            findings.error(file, "%s", e.getMessage());
        }
        return Optional.empty();
    }

    private static void requireName(String label) {
        if (label.isEmpty()) {
            throw SaccadeException.user("has no label; expected a class name or index");
        } else if (label.length() > MAX_NAME || CharMatcher.javaIsoControl().matchesAnyOf(label)) {
            throw SaccadeException.user(
                    "the label has line breaks, control characters or more than %d characters;"
                            + " expected a class name or index",
                    MAX_NAME);
        }
    }

    private static boolean isJson(String name) {
        return Ascii.toLowerCase(name).endsWith(".json");
    }

    private static String text(byte[] content) throws CharacterCodingException {
        String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
        return (text.startsWith("\ufeff") ? text.substring(1) : text).strip();
    }

    /** Returns the text or integer {@code label} of a JSON object; empty if missing. */
    private static String jsonLabel(byte[] content) throws IOException {
        String label = "";
        try (JsonParser parser = JSON.createParser(content)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return "";
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                JsonToken value = parser.nextToken();
                boolean isName =
                        value == JsonToken.VALUE_STRING || value == JsonToken.VALUE_NUMBER_INT;
                if (field.equals("label") && isName) {
                    label = parser.getText().strip();
                }
                parser.skipChildren();
            }
        }
        return label;
    }
}

package dev.saccade.datasets.check;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.TarArchive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds images that occur several times in the splits of a data set, by pixels if decoded and
 * otherwise by file content, and copies augmented by Roboflow, by their names. Files whose length,
 * start or end differs are not read any further.
 */
final class DuplicateImages {

    /** File names from Roboflow, in which augmented copies contain the name of the original. */
    private static final Pattern ROBOFLOW = Pattern.compile("(.+)\\.rf\\.[0-9A-Za-z_-]{8,}\\.\\w+");

    private static final HashFunction HASH = Hashing.murmur3_128();
    private static final int END_BYTES = 4096;

    private record Image(int part, OptionalLong id, Path file, OptionalLong pixels) {

        private String subject() {
            return id.isPresent() ? "image " + id.getAsLong() : "";
        }
    }

    private final List<String> parts = new ArrayList<>();
    private final Set<String> repeating = new HashSet<>();
    private final List<Image> images = new ArrayList<>();

    synchronized void add(String part, OptionalLong id, Path file, OptionalLong pixels) {
        if (!parts.contains(part)) {
            parts.add(part);
        }
        images.add(new Image(parts.indexOf(part), id, file, pixels));
    }

    /** Ignores images that occur several times in a part, such as with labels of other classes. */
    void allowWithin(String part) {
        repeating.add(part);
    }

    SetMultimap<String, Finding> findings() {
        images.sort(
                Comparator.comparingInt(Image::part)
                        .thenComparingLong(image -> image.id.orElse(0))
                        .thenComparing(Image::file));
        Map<Image, String> messages = new HashMap<>();
        for (List<Image> copies : copies()) {
            Image first = copies.get(0);
            copies.stream()
                    .skip(1)
                    .filter(
                            image ->
                                    image.part != first.part
                                            || !repeating.contains(parts.get(first.part)))
                    .forEach(image -> messages.put(image, copyMessage(image, first)));
        }
        addSiblings(messages);
        SetMultimap<String, Finding> findings = LinkedHashMultimap.create();
        for (Image image : images) {
            if (messages.containsKey(image)) {
                findings.put(
                        parts.get(image.part),
                        Finding.warning(
                                image.file.toString(), image.subject(), messages.get(image)));
            }
        }
        return findings;
    }

    private String copyMessage(Image image, Image first) {
        boolean isSameFile = image.file.normalize().equals(first.file.normalize());
        return (isSameFile ? "is the same file as " : "has the same content as ")
                + name(first, image.part)
                + (image.part == first.part
                        ? "; keep one of them, with the correct labels"
                        : leak(first, image));
    }

    private String leak(Image first, Image image) {
        String part = parts.get(image.part);
        return Text.format(
                "; remove it from %s or %s, otherwise metrics on %s are too high",
                parts.get(first.part), part, part);
    }

    private String name(Image image, int otherPart) {
        String where = image.part == otherPart ? "" : " of " + parts.get(image.part);
        return image.id.isPresent()
                ? image.subject() + where + " (" + image.file + ")"
                : image.file + where;
    }

    private void addSiblings(Map<Image, String> messages) {
        Map<String, Image> firsts = new HashMap<>();
        for (Image image : images) {
            Matcher name = ROBOFLOW.matcher(image.file.getFileName().toString());
            Image first = name.matches() ? firsts.putIfAbsent(name.group(1), image) : null;
            if (first != null && first.part != image.part) {
                messages.putIfAbsent(
                        image,
                        "is named like an augmented copy of "
                                + name(first, image.part)
                                + leak(first, image));
            }
        }
    }

    private List<List<Image>> copies() {
        List<Image> decoded = images.stream().filter(image -> image.pixels.isPresent()).toList();
        List<Image> others = images.stream().filter(image -> image.pixels.isEmpty()).toList();
        List<List<Image>> copies = new ArrayList<>(groups(decoded, i -> i.pixels.getAsLong()));
        for (List<Image> sameLength : groups(others, image -> length(image.file))) {
            for (List<Image> sameEnds : groups(sameLength, image -> ends(image.file))) {
                copies.addAll(groups(sameEnds, image -> hash(image.file)));
            }
        }
        return copies;
    }

    private interface Key {

        long of(Image image) throws IOException;
    }

    private static List<List<Image>> groups(List<Image> images, Key key) {
        Map<Long, List<Image>> groups = new HashMap<>();
        for (Image image : images) {
            try {
                groups.computeIfAbsent(key.of(image), k -> new ArrayList<>(1)).add(image);
            } catch (IOException e) {
                // Reported by the check of the image.
            }
        }
        return groups.values().stream().filter(group -> group.size() > 1).toList();
    }

    private static long length(Path file) throws IOException {
        OptionalInt archived = TarArchive.sizeInArchive(file);
        if (archived.isPresent()) {
            return archived.getAsInt();
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException("not a file");
        }
        return Files.size(file);
    }

    private static long ends(Path file) throws IOException {
        if (TarArchive.sizeInArchive(file).isPresent()) {
            return hash(file);
        }
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer ends = ByteBuffer.allocate(2 * END_BYTES);
            channel.read(ends.limit(END_BYTES));
            channel.position(Math.max(channel.position(), channel.size() - END_BYTES));
            channel.read(ends.limit(ends.capacity()));
            return HASH.hashBytes(ends.flip()).asLong();
        }
    }

    private static long hash(Path file) throws IOException {
        return TarArchive.sizeInArchive(file).isPresent()
                ? HASH.hashBytes(ImageReader.readBytes(file)).asLong()
                : MoreFiles.asByteSource(file).hash(HASH).asLong();
    }
}

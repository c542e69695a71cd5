package dev.saccade.datasets.check;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds images that occur more than once in the parts of a data set: by their pixels where these
 * were decoded, otherwise by the bytes of their files. Files of different lengths, starts or ends
 * are not read any further.
 */
final class ImageCopies {

    /** Name of an image that Roboflow wrote: each augmented copy has the name of its source. */
    private static final Pattern ROBOFLOW = Pattern.compile("(.+)\\.rf\\.[0-9A-Za-z_-]{8,}\\.\\w+");

    private static final HashFunction HASH = Hashing.murmur3_128();
    private static final int END_BYTES = 4096;

    private static final Comparator<Image> ORDER =
            Comparator.comparingInt(Image::part)
                    .thenComparingLong(image -> image.id.orElse(0))
                    .thenComparing(Image::file);

    private record Image(int part, OptionalLong id, Path file, OptionalLong pixels) {

        private String subject() {
            return id.isPresent() ? "image " + id.getAsLong() : "";
        }
    }

    private final List<String> parts = new ArrayList<>();
    private final List<Image> images = new ArrayList<>();

    /** Adds an image of a part; parts are compared with those that were added before. */
    synchronized void add(String part, OptionalLong id, Path file, OptionalLong pixels) {
        if (!parts.contains(part)) {
            parts.add(part);
        }
        images.add(new Image(parts.indexOf(part), id, file, pixels));
    }

    /** Returns a warning for each image of a part that another image is equal to. */
    Map<String, List<Finding>> findings() {
        Map<Image, String> messages = new LinkedHashMap<>();
        for (List<Image> copies : copies()) {
            copies.sort(ORDER);
            Image first = copies.get(0);
            copies.subList(1, copies.size())
                    .forEach(image -> messages.put(image, copyMessage(image, first)));
        }
        siblings(messages);
        Map<String, List<Finding>> findings = new HashMap<>();
        messages.keySet().stream()
                .sorted(ORDER)
                .forEach(
                        image ->
                                findings.computeIfAbsent(
                                                parts.get(image.part), part -> new ArrayList<>())
                                        .add(
                                                Finding.warning(
                                                        image.file.toString(),
                                                        image.subject(),
                                                        messages.get(image))));
        return findings;
    }

    private String copyMessage(Image image, Image first) {
        boolean isSameFile = image.file.normalize().equals(first.file.normalize());
        String same = isSameFile ? "is the same file as " : "has the same content as ";
        return same
                + name(first, image.part)
                + (image.part == first.part
                        ? "; keep one of them, with all labels"
                        : leak(first, image));
    }

    private String leak(Image first, Image image) {
        String part = parts.get(image.part);
        return Text.format(
                "; remove it from %s or %s, or metrics on %s are too high",
                parts.get(first.part), part, part);
    }

    private String name(Image image, int otherPart) {
        String where = image.part == otherPart ? "" : " of " + parts.get(image.part);
        return image.id.isPresent()
                ? image.subject() + where + " (" + image.file + ")"
                : image.file + where;
    }

    /** Adds images whose augmented copies are in an earlier part. */
    private void siblings(Map<Image, String> messages) {
        Map<String, Image> firsts = new HashMap<>();
        images.stream()
                .sorted(ORDER)
                .forEach(
                        image -> {
                            Matcher name = ROBOFLOW.matcher(image.file.getFileName().toString());
                            if (name.matches()) {
                                Image first = firsts.putIfAbsent(name.group(1), image);
                                if (first != null && first.part != image.part) {
                                    messages.putIfAbsent(
                                            image,
                                            "is named as an augmented copy of "
                                                    + name(first, image.part)
                                                    + leak(first, image));
                                }
                            }
                        });
    }

    private Collection<List<Image>> copies() {
        List<Image> decoded = images.stream().filter(image -> image.pixels.isPresent()).toList();
        List<Image> others = images.stream().filter(image -> image.pixels.isEmpty()).toList();
        List<List<Image>> copies = new ArrayList<>(groups(decoded, Image::pixels));
        for (List<Image> sameLength : groups(others, image -> length(image.file))) {
            for (List<Image> sameEnds : groups(sameLength, image -> ends(image.file))) {
                copies.addAll(groups(sameEnds, image -> bytes(image.file)));
            }
        }
        return copies;
    }

    /** Returns the images of each key that several have. */
    private static List<List<Image>> groups(List<Image> images, Function<Image, OptionalLong> key) {
        Map<Long, List<Image>> groups = new LinkedHashMap<>();
        for (Image image : images) {
            key.apply(image)
                    .ifPresent(
                            value ->
                                    groups.computeIfAbsent(value, v -> new ArrayList<>(1))
                                            .add(image));
        }
        groups.values().removeIf(group -> group.size() == 1);
        return List.copyOf(groups.values());
    }

    private static OptionalLong length(Path file) {
        try {
            return Files.isRegularFile(file)
                    ? OptionalLong.of(Files.size(file))
                    : OptionalLong.empty();
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    private static OptionalLong ends(Path file) {
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer ends = ByteBuffer.allocate(2 * END_BYTES);
            channel.read(ends.limit(END_BYTES));
            channel.position(Math.max(channel.position(), channel.size() - END_BYTES));
            channel.read(ends.limit(ends.capacity()));
            return OptionalLong.of(HASH.hashBytes(ends.flip()).asLong());
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    private static OptionalLong bytes(Path file) {
        try {
            return OptionalLong.of(MoreFiles.asByteSource(file).hash(HASH).asLong());
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }
}

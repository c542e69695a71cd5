package dev.saccade.datasets.check;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import org.apache.commons.imaging.ImageFormats;
import org.apache.commons.imaging.Imaging;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Guesses the format of a label file from its beginning. */
public final class LabelFormat {

    public static final String COCO = "COCO";
    static final String IMAGE = "an image";

    private static final int READ_BYTES = 2_000;

    /** A class index, and a box or an outline in fractions. */
    private static final Pattern YOLO_LINE =
            Pattern.compile("\\d+(\\s+[-+]?\\d*\\.?\\d+([eE][-+]?\\d+)?){4,}\\s*");

    private static final Pattern YOLO_NAMES = Pattern.compile("(?m)^names\\s*:");
    private static final String ZIP = "PK\u0003\u0004";
    private static final String GZIP = "\u001f\u008b";

    private LabelFormat() {}

    /** Returns the format of a file; empty if unknown or unreadable. */
    public static Optional<String> guess(Path file) {
        try {
            String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
            byte[] start = start(file);
            return name.endsWith(".json") && !isUtf16(start)
                    ? guessJson(file)
                    : guessFromStart(name, start);
        } catch (IOException | SaccadeException e) {
            return Optional.empty();
        }
    }

    private static byte[] start(Path file) throws IOException {
        try (InputStream stream = RegularFile.open(file)) {
            return stream.readNBytes(READ_BYTES);
        }
    }

    /** Returns the format of a file that is not JSON despite its name; empty if unknown. */
    public static Optional<String> guessNonJson(Path file) {
        try {
            return guessFromStart("", start(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isUtf16(byte[] start) {
        return start.length > 1
                && ((start[0] == (byte) 0xff && start[1] == (byte) 0xfe)
                        || (start[0] == (byte) 0xfe && start[1] == (byte) 0xff));
    }

    private static Optional<String> guessFromStart(String name, byte[] start) throws IOException {
        String text = new String(start, StandardCharsets.ISO_8859_1);
        if (isUtf16(start)) {
            return Optional.of("text in UTF-16 (save it as UTF-8)");
        } else if (text.startsWith(ZIP) || text.startsWith(GZIP)) {
            return Optional.of("an archive (unpack it)");
        } else if (start.length > 1 && Imaging.guessFormat(start) != ImageFormats.UNKNOWN) {
            return Optional.of(IMAGE);
        } else if (text.contains("<annotations")) {
            return Optional.of("CVAT");
        } else if (text.contains("<annotation")) {
            return Optional.of("Pascal VOC");
        } else if (YOLO_LINE.matcher(text.lines().findFirst().orElse("")).matches()
                || (name.matches(".*\\.ya?ml") && YOLO_NAMES.matcher(text).find())) {
            return Optional.of("YOLO");
        }
        return name.endsWith(".csv") ? Optional.of("a table (CSV)") : Optional.empty();
    }

    private static Optional<String> guessJson(Path file) throws IOException {
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            if (parser.nextToken() == JsonToken.START_ARRAY) {
                return JsonShape.ofList(parser).format();
            }
            Set<String> keys = new LinkedHashSet<>();
            Set<String> inner = Set.of();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                keys.add(parser.currentName());
                if (keys.contains("images") || keys.contains("annotations")) {
                    return Optional.of(COCO);
                }
                if (parser.nextToken() == JsonToken.START_OBJECT && inner.isEmpty()) {
                    inner = JsonShape.keysOf(parser);
                } else {
                    parser.skipChildren();
                }
            }
            return new JsonShape(false, keys, inner).format();
        }
    }
}

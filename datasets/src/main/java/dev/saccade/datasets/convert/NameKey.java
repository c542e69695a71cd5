package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;

import dev.saccade.datasets.image.ImageNames;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Keys by which paths are compared where no file has the name that labels state. Two paths have the
 * same key if they differ in slashes, percent encoding, Unicode form, case or blanks alone; a
 * {@code +} is a blank, as in URLs.
 */
final class NameKey {

    private static final Pattern ENCODED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");
    private static final Pattern DOT = Pattern.compile("\\s*\\.\\s*");
    private static final List<String> LABEL_ENDINGS = List.of(".txt", ".xml", ".json");

    /** Names that were encoded twice occur, such as {@code %2520}. */
    private static final int MOST_DECODED = 3;

    private NameKey() {}

    /** Returns the key of a path. */
    static String of(String path) {
        String decoded = path;
        for (int i = 0; i < MOST_DECODED; i++) {
            decoded = decoded(decoded);
        }
        String composed = Normalizer.normalize(decoded, Normalizer.Form.NFC);
        String folded = composed.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
        return Splitter.on(CharMatcher.anyOf("/\\"))
                .splitToStream(folded.replace('+', ' '))
                .map(NameKey::blanksCollapsed)
                .filter(name -> !name.isEmpty() && !name.equals("."))
                .collect(Collectors.joining("/"));
    }

    private static String blanksCollapsed(String name) {
        String collapsed = CharMatcher.whitespace().trimAndCollapseFrom(name, ' ');
        return collapsed.equals("..") ? collapsed : DOT.matcher(collapsed).replaceAll(".");
    }

    private static String decoded(String text) {
        return ENCODED.matcher(text).replaceAll(NameKey::decoded);
    }

    /** Returns the text of encoded bytes; the bytes as they are if they are not UTF-8. */
    private static String decoded(MatchResult encoded) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String digits : Splitter.on('%').omitEmptyStrings().split(encoded.group())) {
            bytes.write(Integer.parseInt(digits, 16));
        }
        try {
            String text =
                    UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
            return Matcher.quoteReplacement(text);
        } catch (CharacterCodingException e) {
            return Matcher.quoteReplacement(encoded.group());
        }
    }

    /** Returns the key of a path without its ending. */
    static String ofStem(String path) {
        return SourceFolder.stem(of(path));
    }

    /** Returns the key of a path without any ending of images and labels: one of two or more. */
    static String ofBareStem(String path) {
        String key = of(path);
        for (String stem = SourceFolder.stem(key);
                isEnding(key, stem);
                stem = SourceFolder.stem(key)) {
            key = stem;
        }
        return key;
    }

    private static boolean isEnding(String key, String stem) {
        String ending = key.substring(stem.length());
        return ImageNames.ENDINGS.contains(ending) || LABEL_ENDINGS.contains(ending);
    }
}

package dev.saccade.datasets.convert.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;

import dev.saccade.datasets.image.ImageNames;

import java.net.URLDecoder;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Keys to compare paths if no file has the exact name in the labels. Paths have the same key if
 * they only differ in slashes, percent encoding, Unicode form, case or blanks; a {@code +} is a
 * blank, as in URLs.
 */
public final class NameKey {

    private static final Pattern ENCODED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");
    private static final Pattern DOT = Pattern.compile("\\s*\\.\\s*");
    private static final List<String> LABEL_SUFFIXES = List.of(".txt", ".xml", ".json");

    private NameKey() {}

    public static String of(String path) {
        // Decodes up to three times, as some names are encoded repeatedly, such as %2520.
        String decoded = decoded(decoded(decoded(path)));
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

    /** Decodes bytes; keeps them encoded if they are not UTF-8. */
    private static String decoded(MatchResult encoded) {
        String text = URLDecoder.decode(encoded.group(), UTF_8);
        return Matcher.quoteReplacement(text.indexOf('\ufffd') < 0 ? text : encoded.group());
    }

    /** Returns the key of a path without its suffix. */
    public static String ofStem(String path) {
        return SourceFolder.stem(of(path));
    }

    /** Returns the key of a path without image and label suffixes, such as .jpg.txt. */
    public static String ofBareStem(String path) {
        String key = of(path);
        String stem = SourceFolder.stem(key);
        String suffix = key.substring(stem.length());
        boolean isKnown = ImageNames.ENDINGS.contains(suffix) || LABEL_SUFFIXES.contains(suffix);
        return isKnown ? ofBareStem(stem) : key;
    }
}

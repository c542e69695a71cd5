package dev.saccade.datasets.labels;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Compares the path of a label file with image folders by the names in both, such as {@code
 * instances_train2017.json} with {@code images/train2017}.
 */
public final class PathNames {

    private static final CharMatcher IN_WORDS =
            CharMatcher.forPredicate(Character::isLetterOrDigit);

    private PathNames() {}

    /** Returns the number of folders whose whole name, such as a date, is in the label path. */
    public static int countContainedFolders(String labels, String folders) {
        String path = fold(labels);
        return (int) names(folders).stream().filter(name -> isIn(path, name)).count();
    }

    /**
     * Counts the words of folder names that are missing in the label path, such as 1 for {@code
     * train2017_backup}. Ignores folders that share no word with it.
     */
    public static int countUnmatchedWords(String labels, String folders) {
        Set<String> words = Set.copyOf(words(fold(labels)));
        int extra = 0;
        for (String name : names(folders)) {
            List<String> own = words(name);
            int shared = (int) own.stream().filter(words::contains).count();
            extra += shared > 0 ? own.size() - shared : 0;
        }
        return extra;
    }

    private static boolean isIn(String path, String name) {
        for (int at = path.indexOf(name); at >= 0; at = path.indexOf(name, at + 1)) {
            int end = at + name.length();
            boolean isWhole =
                    (at == 0 || !IN_WORDS.matches(path.charAt(at - 1)))
                            && (end == path.length() || !IN_WORDS.matches(path.charAt(end)));
            if (isWhole) {
                return true;
            }
        }
        return false;
    }

    private static String fold(String path) {
        return path.toLowerCase(Locale.ROOT).replace('\\', '/');
    }

    private static List<String> names(String folders) {
        return Splitter.on('/').omitEmptyStrings().splitToList(fold(folders));
    }

    private static List<String> words(String text) {
        return Splitter.on(IN_WORDS.negate()).omitEmptyStrings().splitToList(text);
    }
}

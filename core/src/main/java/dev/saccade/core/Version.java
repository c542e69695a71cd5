package dev.saccade.core;

import com.google.common.io.Resources;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of Saccade and of its source code. */
public final class Version {

    /** Abbreviated commit, and whether files differ from it; a build outside of git has none. */
    private static final Pattern COMMIT = Pattern.compile("([0-9a-f]{12}) (true|false)");

    private Version() {}

    /** Returns the version, such as {@code 0.1.0}; {@code unpackaged} without a version file. */
    public static String saccade() {
        return read("version.txt").orElse("unpackaged");
    }

    /**
     * Returns the git commit that Saccade was built from, such as {@code 3549d279c0d1}, followed by
     * {@code , modified} for uncommitted changes; empty if it was not built in a git checkout.
     */
    public static Optional<String> commit() {
        return read("commit.txt").map(COMMIT::matcher).filter(Matcher::matches).map(Version::text);
    }

    private static String text(Matcher commit) {
        return commit.group(1) + (commit.group(2).equals("true") ? ", modified" : "");
    }

    private static Optional<String> read(String name) {
        URL file = Version.class.getResource(name);
        if (file == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Resources.toString(file, StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            throw SaccadeException.internal(e, "%s: cannot be read", file);
        }
    }
}

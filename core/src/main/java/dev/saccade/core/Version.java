package dev.saccade.core;

import com.google.common.io.Resources;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** The version of Saccade. */
public final class Version {

    private Version() {}

    /** Returns the version, such as {@code 0.1.0}; {@code unpackaged} without a version file. */
    public static String saccade() {
        URL file = Version.class.getResource("version.txt");
        if (file == null) {
            return "unpackaged";
        }
        try {
            return Resources.toString(file, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw SaccadeException.internal(e, "%s: cannot be read", file);
        }
    }
}

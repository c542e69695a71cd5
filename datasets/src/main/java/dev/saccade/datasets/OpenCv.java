package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import nu.pattern.OpenCV;

import org.opencv.core.Core;

/** Loads OpenCV's native library, once a process; everything that makes a first Mat asks for it. */
public final class OpenCv {

    static {
        try {
            OpenCV.loadLocally();
        } catch (UnsatisfiedLinkError | ExceptionInInitializerError e) {
            throw SaccadeException.internal(
                    e,
                    "OpenCV cannot be loaded on %s %s: %s",
                    System.getProperty("os.name"),
                    System.getProperty("os.arch"),
                    e.getMessage());
        }
        // The threads of the loader are the parallelism; OpenCV's own would only get in their way.
        Core.setNumThreads(1);
    }

    private OpenCv() {}

    /** Makes sure that the native library is there. */
    @SuppressWarnings("EmptyMethod")
    public static void load() {}
}

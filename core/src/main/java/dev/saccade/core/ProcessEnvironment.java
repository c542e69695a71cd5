package dev.saccade.core;

import com.sun.jna.Function;
import com.sun.jna.Platform;

/** Sets environment variables of this process for native libraries that are loaded later. */
public final class ProcessEnvironment {

    private ProcessEnvironment() {}

    /** Sets a variable unless it is already set or the system function is missing. */
    public static void setIfAbsent(String name, String value) {
        if (System.getenv(name) != null) {
            return;
        }
        try {
            if (Platform.isWindows()) {
                Function.getFunction("kernel32", "SetEnvironmentVariableA")
                        .invokeInt(new Object[] {name, value});
            } else {
                Function.getFunction(Platform.C_LIBRARY_NAME, "setenv")
                        .invokeInt(new Object[] {name, value, 0});
            }
        } catch (LinkageError e) {
            // The library then behaves as if the variable were not set.
            return;
        }
    }
}

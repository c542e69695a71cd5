package dev.saccade.core.ops.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.core.Libtorch;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.Text;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
class OperatorLibraryTest {

    private static OperatorLibrary library(String name) {
        return new OperatorLibrary(
                OperatorLibraryTest.class,
                name,
                () -> Script.evaluate("ops." + name + ".instruction_set()") + " bits");
    }

    @Test
    void isOffIfMissing() {
        OperatorLibrary library = library("nowhere");
        assumeTrue(System.getProperty(OperatorLibrary.PROPERTY) == null, "all are off");
        assertEquals(
                "portable (no library for " + NativePlatform.name() + ")",
                library.status().toString());
        assertFalse(library.isOn());
    }

    @Test
    void isOffForInvalidFiles() {
        OperatorLibrary library = library("none");
        assumeTrue(System.getProperty(OperatorLibrary.PROPERTY) == null, "all are off");
        assertFalse(library.isOn());
        String reason = library.status().reason();
        assertTrue(reason.startsWith("the library cannot be loaded: "), reason);
        assertTrue(reason.contains("libnone.so"), reason);
    }

    @Test
    void isOffForOtherVersionsOfLibtorch() {
        OperatorLibrary library = library("old");
        assumeTrue(System.getProperty(OperatorLibrary.PROPERTY) == null, "all are off");
        assertEquals(
                Text.format(
                        "the library cannot be loaded: libold.so: built for libtorch 2.5.1, but"
                                + " libtorch %1$s is loaded; build the library for libtorch %1$s, or"
                                + " use libtorch 2.5.1",
                        Libtorch.build().version()),
                library.status().reason());
    }

    @Test
    void isOffForUnsupportedProcessors() {
        OperatorLibrary library =
                new OperatorLibrary(
                        OperatorLibraryTest.class,
                        "saccade",
                        () -> {
                            throw new IllegalStateException("the processor is too old");
                        });
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        assertEquals(
                "the library cannot be loaded: the processor is too old",
                library.status().reason());
    }

    @Test
    void isOnExceptInCallPortable() {
        OperatorLibrary library = library("saccade");
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        String status = library.status().toString();
        assertTrue(status.matches("fused \\((256|512)\\.0 bits\\)"), status);
        assertTrue(library.isOn());
        assertFalse(OperatorLibrary.callPortable(library::isOn));
    }
}

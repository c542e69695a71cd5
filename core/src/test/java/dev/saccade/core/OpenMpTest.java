package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Loads libtorch in its own process and reads which settings its libgomp prints. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "other systems use another OpenMP library")
class OpenMpTest {

    /** Loads libtorch. */
    public static void main(String[] args) {
        Libtorch.engine();
    }

    @Test
    void limitsSpinningUnlessTheEnvironmentSetsIt() throws IOException, InterruptedException {
        assertSpinCount("3000", Map.of());
        assertSpinCount("77", Map.of("GOMP_SPINCOUNT", "77"));
        assertSpinCount("0", Map.of("OMP_WAIT_POLICY", "PASSIVE"));
    }

    private static void assertSpinCount(String expected, Map<String, String> variables)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dai.djl.offline=true",
                        OpenMpTest.class.getName());
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> name.matches("G?OMP_.*"));
        environment.putAll(variables);
        environment.put("OMP_DISPLAY_ENV", "VERBOSE");
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("GOMP_SPINCOUNT = '" + expected + "'"), output);
    }
}

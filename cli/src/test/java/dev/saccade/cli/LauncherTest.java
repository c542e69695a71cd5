package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

class LauncherTest {

    @Test
    void rejectsMissingClassPathEntries() throws Exception {
        assertEquals(
                "saccade: SACCADE_CLASS_PATH: mine/nowhere: no such folder or jar\n",
                refused("src:src/*:mine/nowhere"));
        assertEquals(
                "saccade: SACCADE_CLASS_PATH: nowhere/*: no such folder or jar\n",
                refused("nowhere/*"));
    }

    private static String refused(String classPath) throws IOException, InterruptedException {
        ProcessBuilder launcher = new ProcessBuilder("bash", "../saccade", "--help");
        launcher.environment().put("SACCADE_CLASS_PATH", classPath);
        Process process = launcher.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(2, process.waitFor(), output);
        return output;
    }
}

package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class NativePlatformTest {

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({
        "Linux, amd64, linux-x86_64",
        "Linux, aarch64, linux-aarch64",
        "Mac OS X, aarch64, osx-aarch64",
        "Mac OS X, x86_64, osx-x86_64",
        "Windows 11, amd64, win-x86_64",
        "Windows Server 2022, amd64, win-x86_64",
        "FreeBSD, amd64, freebsd-x86_64"
    })
    void namesPlatformsLikeDjl(String system, String architecture, String name) {
        assertEquals(name, NativePlatform.name(system, architecture));
    }

    @Test
    void classPathHasLibtorchForThisPlatform() {
        assertTrue(
                LibtorchArtifacts.platforms().contains(NativePlatform.name()),
                LibtorchArtifacts.platforms().toString());
    }

    @Test
    void detectsMusl() throws IOException {
        Path maps = folder.resolve("maps");
        String start = "7f1c2a000000-7f1c2a014000 r--p 00000000 08:01 131 ";
        Files.writeString(maps, start + "/lib/ld-musl-x86_64.so.1\n");
        assertTrue(NativePlatform.hasMusl(maps));
        Files.writeString(maps, start + "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n");
        assertFalse(NativePlatform.hasMusl(maps));
        assertFalse(NativePlatform.hasMusl(folder.resolve("nowhere")));
    }
}

package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.saccade.train.logs.JsonLog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The log of a run that is resumed; its lines up to a step are kept, once and for all. */
final class LogTarget implements FuzzTarget {

    private static final Path FILE = Path.of("metrics.jsonl");
    private static final long ITERATION = 20;

    @Override
    public String name() {
        return "log";
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> seeds() {
        return Texts.all(
                """
                {"event":"step","iteration":10,"epoch":0,"loss":1.5,"losses":{"cls":1.0,"box":0.5}}
                {"event":"evaluation","iteration":20,"epoch":1,"metrics":{"AP":0.25},"best":true}
                {"event":"step","iteration":30,"epoch":1,"loss":1.25,"losses":{"cls":1,"box":0.25}}
                """,
                "{\"iteration\":5}\n{\"iteration\":1e1}\n{\"iterat",
                "");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        Files.write(FILE, input);
        byte[] kept = resumed();
        assertArrayEquals(kept, resumed());
    }

    private static byte[] resumed() throws IOException {
        new JsonLog(FILE, ITERATION).close();
        return Files.readAllBytes(FILE);
    }
}

package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A case that was not really compared fails. */
class HarnessTest {

    private static final Tolerance LOOSE = Tolerance.ofMax(1e-3);

    @TempDir Path folder;

    private Case write(String json, byte[]... arrays) throws IOException {
        Files.writeString(folder.resolve("case.json"), json);
        if (arrays.length > 0) {
            try (ZipOutputStream zip =
                    new ZipOutputStream(Files.newOutputStream(folder.resolve("io.npz")))) {
                for (int i = 0; i < arrays.length; i++) {
                    zip.putNextEntry(new ZipEntry("a" + i + ".npy"));
                    zip.write(arrays[i]);
                }
            }
        }
        return Case.open(folder);
    }

    /** Encodes an array as numpy does, with its big-endian magic number. */
    private static byte[] npy(String type, boolean fortran, String shape, byte[] data) {
        String header =
                String.format(
                        Locale.ROOT,
                        "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                        type,
                        fortran ? "True" : "False",
                        shape);
        return ByteBuffer.allocate(10 + header.length() + data.length)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .put((byte) header.length())
                .put((byte) 0)
                .put(header.getBytes(StandardCharsets.US_ASCII))
                .put(data)
                .array();
    }

    private static byte[] floats(float... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return data.array();
    }

    @Test
    void readsEveryTypeAndOrder() throws IOException {
        byte[] longs = ByteBuffer.allocate(16).putLong(-3).putLong(1L << 40).array();
        byte[] bytes = {(byte) 200, 1};
        try (Case recorded =
                write(
                        "{}",
                        npy("<f4", false, "(2, 3)", floats(1, 2, 3, 4, 5, 6)),
                        npy("<f4", true, "(2, 3)", floats(1, 4, 2, 5, 3, 6)),
                        npy(">i8", false, "(2,)", longs),
                        npy("|u1", false, "(1, 2)", bytes),
                        npy("<f4", false, "()", floats(7)))) {
            double[] rowMajor = {1, 2, 3, 4, 5, 6};
            assertArrayEquals(rowMajor, recorded.array("a0").values());
            assertArrayEquals(rowMajor, recorded.array("a1").values());
            assertArrayEquals(new double[] {-3, 1L << 40}, recorded.array("a2").values());
            assertArrayEquals(new double[] {200, 1}, recorded.array("a3").values());
            assertArrayEquals(new double[] {7}, recorded.array("a4").values());
            assertEquals("[1, 2]", recorded.array("a0").position(5));
        }
    }

    @Test
    void rejectsTruncatedArrays() {
        assertThrows(
                RuntimeException.class,
                () -> write("{}", npy("<f4", false, "(3,)", floats(1, 2))).close());
        assertThrows(
                RuntimeException.class,
                () -> write("{}", npy("<f4", false, "(1,)", floats(1, 2))).close());
    }

    @Test
    void skipsUnknownKinds() throws IOException {
        try (Case recorded = write("{\"kind\": \"telepathy\"}")) {
            TestAbortedException skipped =
                    assertThrows(TestAbortedException.class, () -> Kinds.run(recorded));
            assertTrue(skipped.getMessage().contains("telepathy"), skipped.getMessage());
        }
    }

    private static String failure(Executable executable) {
        return assertThrows(AssertionError.class, executable).getMessage();
    }

    @Test
    void unusedSettingsAndArraysFailByName() throws IOException {
        String json =
                """
                {"kind": "k", "config": [{"a": 1}, {"a": 2, "b": null}],
                 "model": {"neck": {"c": 3}, "head": {"d": 4}}, "note": "for people"}
                """;
        try (Case recorded = write(json, npy("<f4", false, "(1,)", floats(1)))) {
            assertEquals("k", recorded.kind());
            for (Settings settings : recorded.settings().objects("config")) {
                settings.integer("a");
            }
            Settings model = recorded.settings().object("model");
            model.object("neck");
            assertTrue(model.has("head"));
            assertEquals(
                    String.format(
                            Locale.ROOT,
                            """
                    case %1$s: setting config[1].b is not known
                    case %1$s: setting model.head is not known
                    case %1$s: setting model.neck.c is not known
                    array a0 was never looked at""",
                            folder.getFileName()),
                    failure(recorded::check));

            recorded.settings().objects("config").get(1).has("b");
            model.object("head").integer("d");
            model.object("neck").describes("c");
            assertEquals("array a0 was never looked at", failure(recorded::check));
            recorded.array("a0");
            recorded.check();
        }
    }

    @Test
    void unsupportedValuesFailByName() throws IOException {
        String json = "{\"config\": [{\"a\": 0.5, \"b\": \"x\", \"c\": [1, \"y\"], \"d\": [2]}]}";
        try (Case recorded = write(json)) {
            Settings config = recorded.config();
            config.only("absent", 7);
            config.only("a", 0.5);
            String where = "case " + folder.getFileName() + ": setting config[0].";
            assertEquals(where + "a is 0.5, built is only 1", failure(() -> config.only("a", 1)));
            assertEquals(
                    where + "b is \"x\", expected a number", failure(() -> config.number("b")));
            assertEquals(
                    where + "c is [1,\"y\"], expected an array of numbers",
                    failure(() -> config.numbers("c")));
            assertEquals(
                    where + "d is [2], expected an object, or an array of objects",
                    failure(() -> config.objects("d")));
            assertEquals(where + "e is missing", failure(() -> config.text("e")));
        }
    }

    @Test
    void skipsUnsupportedClasses() throws IOException {
        try (Case recorded = write("{\"nms\": {\"type\": \"soft_nms\"}}")) {
            Settings nms = recorded.settings().object("nms");
            nms.onlyClass("type", "soft_nms");
            TestAbortedException skipped =
                    assertThrows(TestAbortedException.class, () -> nms.onlyClass("type", "nms"));
            assertEquals(
                    String.format(
                            Locale.ROOT,
                            "case %s: nothing is built for the nms.type \"soft_nms\"",
                            folder.getFileName()),
                    skipped.getMessage());
        }
    }

    @Test
    void unusedSettingsAreReportedBeforeDeviations() throws IOException {
        String json =
                """
                {"kind": "anchors", "feature_sizes": [[1, 1]], "pad_shape": [8, 8],
                 "config": [{"strides": [8], "scales": [1], "ratios": [1], "center": 0.5}]}
                """;
        try (Case recorded = write(json, npy("<f4", false, "(1, 4)", floats(0, 0, 8, 8)))) {
            String stopped = failure(() -> Kinds.run(recorded));
            assertTrue(stopped.contains("io.npz has no base0_0"), stopped);
            assertTrue(stopped.endsWith("settings [config[0].center]"), stopped);
        }
    }

    @Test
    void reportsDeviations() throws IOException {
        NumpyArray close = NumpyArray.of(100.1, 1, 0.05, -1).reshape(2, 2);
        try (Case recorded = hundredOneZeroMinusOne()) {
            recorded.compare("a0", close, LOOSE);
            assertEquals("0.5000 of tolerance at a0", recorded.worst());
            recorded.check();
        }
        for (double wrong : List.of(0.2, Double.NaN, Double.POSITIVE_INFINITY)) {
            try (Case recorded = hundredOneZeroMinusOne()) {
                NumpyArray far = NumpyArray.of(100, 1, wrong, -1).reshape(2, 2);
                recorded.compare("a0", far, LOOSE);
                recorded.compare("a0", close, LOOSE);
                String message = failure(recorded::check);
                assertTrue(message.contains("worst at [1, 0]"), message);
            }
        }
        try (Case recorded = hundredOneZeroMinusOne()) {
            recorded.compare("a0", close.reshape(4), LOOSE);
            assertEquals("a0: shape [4], expected [2, 2]", failure(recorded::check));
        }
    }

    private Case hundredOneZeroMinusOne() throws IOException {
        return write("{}", npy("<f4", false, "(2, 2)", floats(100, 1, 0, -1)));
    }

    @Test
    void parsesTolerances() {
        assertEquals(
                new Tolerance(0, 1e-4, 1e-4),
                Tolerance.parse("with atol = 1e-4*max_abs(array), rtol = 1e-4 should hold"));
        assertEquals(new Tolerance(0, 2e-3, 1e-3), Tolerance.parse("atol 2e-3*max_abs, rtol 1e-3"));
        assertThrows(IllegalArgumentException.class, () -> Tolerance.parse("close enough"));
    }

    @Test
    void folderWithoutCasesFails() throws IOException {
        assertThrows(AssertionError.class, () -> Fixtures.cases(folder));
        assertThrows(AssertionError.class, () -> Fixtures.cases(folder.resolve("nowhere")));

        Path nested = Files.createDirectories(folder.resolve("a/b"));
        Files.writeString(nested.resolve("case.json"), "{}");
        assertEquals(List.of(nested), Fixtures.cases(folder));
        assertEquals("a/b", Fixtures.name(folder, nested));
    }
}

package dev.saccade.checkpoint.pytorch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.StoredClassNames;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.TestFiles;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

class TorchFileTest {

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"training_zip.pth", "training_legacy.pth"})
    void readsWeightsAndMetadataOfTrainingCheckpoints(String name) throws IOException {
        Checkpoint checkpoint = TorchFile.read(TestFiles.copy(name, folder));

        assertEquals(
                List.of("conv1.weight", "bn1.num_batches_tracked"),
                List.copyOf(checkpoint.tensors().keySet()));
        Tensor weight = checkpoint.tensors().get("conv1.weight");
        assertEquals(new Shape(2, 3, 2, 2), weight.shape());
        assertArrayEquals(range(0, 24, 1), TestFiles.values(weight));
        assertEquals(
                Map.of(
                        "epoch", "12",
                        "CLASSES", "[\"red blood cell\",\"a \\\"quoted\\\" one\"]",
                        "time", "noon",
                        "lr", "0.5"),
                checkpoint.metadata());
    }

    @Test
    void readsAveragedWeightsOnRequest() throws IOException {
        Path file = TestFiles.copy("training_zip.pth", folder);

        assertEquals(
                new Shape(1), TorchFile.readAveraged(file).tensors().get("conv1.weight").shape());
        Path without = TestFiles.copy("protocol4.pth", folder);
        assertTrue(
                assertThrows(SaccadeException.class, () -> TorchFile.readAveraged(without))
                        .getMessage()
                        .contains("state_dict_ema"));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 5})
    void readsPickledNumpyArrays(int protocol) throws IOException {
        Path file = TestFiles.copy("numpy" + protocol + ".pkl", folder);

        Map<String, Tensor> tensors = Checkpoints.open(file).tensors();

        Tensor expected = Tensor.of(new Shape(2, 3), 0, 1, 2, 3, 4, 5);
        assertEquals(Map.of("stem.conv1.weight", expected, "columns", expected), tensors);
    }

    @Test
    void rejectsArraysOfWrongLength() throws IOException {
        byte[] bytes = TestFiles.bytes("numpy4.pkl");
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String shape = "K\2K\3\u0086";
        assertTrue(text.contains(shape));
        Path file = folder.resolve("a.pkl");
        String larger = text.replace(shape, "K\u00ffK\3\u0086");
        Files.write(file, larger.getBytes(StandardCharsets.ISO_8859_1));

        assertRefused(file, "wrong number of bytes");
    }

    @ParameterizedTest
    @CsvSource({
        "classes.pth, averaged weights in the file: state_dict_ema",
        "teacher.pth, used weights: teacher",
        "net.pth, used weights: net"
    })
    void findsWeightsUnderAnyKey(String name, String note) throws IOException {
        Checkpoint checkpoint = TorchFile.read(TestFiles.copy(name, folder));

        assertArrayEquals(
                new float[] {1, 1}, TestFiles.values(checkpoint.tensors().get("fc.weight")));
        assertTrue(checkpoint.notes().toString().contains(note), checkpoint.notes().toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"classes.pth", "teacher.pth"})
    void findsClassNamesAtAnyKey(String name) throws IOException {
        Checkpoint checkpoint = TorchFile.read(TestFiles.copy(name, folder));

        assertEquals(List.of("cat", "dog"), StoredClassNames.of(checkpoint.metadata()));
    }

    @Test
    void readsLaterPickleProtocols() throws IOException {
        Checkpoint checkpoint = TorchFile.read(TestFiles.copy("protocol4.pth", folder));

        assertArrayEquals(
                range(0, 24, 1), TestFiles.values(checkpoint.tensors().get("conv1.weight")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"kinds_zip.pth", "kinds_legacy.pth"})
    void readsEveryElementTypeAndLayout(String name) throws IOException {
        Map<String, Tensor> tensors = TorchFile.read(TestFiles.copy(name, folder)).tensors();

        for (ElementType type : ElementType.values()) {
            String key =
                    type == ElementType.BOOLEAN ? "bool" : type.name().toLowerCase(Locale.ROOT);
            float[] expected =
                    type == ElementType.BOOLEAN
                            ? new float[] {0, 1, 1, 1}
                            : new float[] {0, 1, 2, 100};
            assertEquals(type, tensors.get(key).type());
            assertArrayEquals(expected, TestFiles.values(tensors.get(key)), key);
        }
        assertArrayEquals(
                new float[] {
                    0f,
                    -0f,
                    1.5f,
                    -2.25f,
                    65504f,
                    0x1p-24f,
                    0x1.ff8p-15f,
                    Float.POSITIVE_INFINITY,
                    Float.NEGATIVE_INFINITY
                },
                TestFiles.values(tensors.get("halves")));
        assertEquals(new Shape(), tensors.get("scalar").shape());
        assertArrayEquals(new float[] {3.5f}, TestFiles.values(tensors.get("scalar")));
        assertEquals(new Shape(0, 4), tensors.get("empty").shape());
        assertArrayEquals(range(4, 6, 1), TestFiles.values(tensors.get("view")));
        assertArrayEquals(range(6, 2, 1), TestFiles.values(tensors.get("shared")));
        assertArrayEquals(
                new float[] {0, 6, 12, 18, 1, 7, 13, 19},
                Arrays.copyOf(TestFiles.values(tensors.get("transposed")), 8));
        assertArrayEquals(range(0, 24, 1), TestFiles.values(tensors.get("channels_last")));
        assertArrayEquals(range(1, 8, 3), TestFiles.values(tensors.get("strided")));
        assertArrayEquals(new float[] {1, 1}, TestFiles.values(tensors.get("parameter")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"shell_zip.pth", "shell_legacy.pth"})
    void rejectsCodeByName(String name) throws IOException {
        assertRefused(TestFiles.copy(name, folder), "posix.system");
    }

    @Test
    void rejectsWholeModulesByName() throws IOException {
        assertRefused(TestFiles.copy("module.pth", folder), "torch.nn.modules.linear.Linear");
    }

    @Test
    void rejectsTorchScript() throws IOException {
        assertRefused(TestFiles.copy("torchscript.pt", folder), "TorchScript");
    }

    @Test
    void rejectsTensorsThatRepeatTheirStorage() throws IOException {
        assertRefused(TestFiles.copy("expanded.pth", folder), ".contiguous()");
    }

    @Test
    void reportsEveryTruncationInOneLine() throws IOException {
        for (String name : List.of("training_zip.pth", "training_legacy.pth")) {
            byte[] bytes = TestFiles.bytes(name);
            Path file = folder.resolve("cut.pth");
            for (int length = 2; length < bytes.length; length += 97) {
                Files.write(file, Arrays.copyOf(bytes, length));
                assertRefused(file, "cut.pth: ");
            }
        }
    }

    @Test
    void writtenFilesRoundTrip() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("b.weight", Tensor.of(new Shape(2, 2), 1, 2, 3, 4));
        tensors.put("a.\u00e9", Tensor.of(new Shape(), 5));
        tensors.put("none", Tensor.of(new Shape(0, 3)));
        Checkpoint checkpoint = new Checkpoint(tensors, Map.of("classes", "[\"a\"]"));

        Path file = folder.resolve("out.pth");
        TorchFile.write(file, checkpoint);

        assertEquals(checkpoint, TorchFile.read(file));
        assertEquals(
                List.copyOf(tensors.keySet()),
                List.copyOf(TorchFile.read(file).tensors().keySet()));
    }

    @Test
    void writingIsDeterministic() throws IOException {
        Checkpoint checkpoint = new Checkpoint(Map.of("a", Tensor.of(new Shape(1), 1)), Map.of());
        TorchFile.write(folder.resolve("1.pth"), checkpoint);
        TorchFile.write(folder.resolve("2.pth"), checkpoint);

        assertArrayEquals(
                Files.readAllBytes(folder.resolve("1.pth")),
                Files.readAllBytes(folder.resolve("2.pth")));
    }

    @Test
    void tensorsInZipFilesAreAligned() throws IOException {
        byte[] content = "ALIGNED!".getBytes(StandardCharsets.US_ASCII);
        Tensor tensor = new Tensor(ElementType.UINT8, new Shape(8), ByteBuffer.wrap(content));
        Path file = folder.resolve("a.pth");
        TorchFile.write(file, new Checkpoint(Map.of("a", tensor), Map.of()));

        String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        assertEquals(0, bytes.indexOf("ALIGNED!") % 64);
    }

    private static void assertRefused(Path file, String expected) {
        SaccadeException e = assertThrows(SaccadeException.class, () -> TorchFile.read(file));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains(expected), e.getMessage());
        assertEquals(1, e.getMessage().lines().count(), e.getMessage());
    }

    private static float[] range(int first, int count, int step) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = first + i * step;
        }
        return values;
    }
}

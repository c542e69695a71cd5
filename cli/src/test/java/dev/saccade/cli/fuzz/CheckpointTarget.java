package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Checkpoints. Tensors have the bytes of their shapes, and what is accepted is the same when it is
 * written in any format and read again.
 */
record CheckpointTarget(String name, Format format, List<byte[]> seeds) implements FuzzTarget {

    private static final Path FILE = Path.of("checkpoint");

    static CheckpointTarget ofSafeTensors() {
        List<byte[]> seeds = CheckpointSeeds.safetensors();
        return new CheckpointTarget("safetensors", new SafeTensorsParts(), seeds);
    }

    static CheckpointTarget ofZip() {
        return new CheckpointTarget("zip", new ZipEntries(), CheckpointSeeds.zip());
    }

    static CheckpointTarget ofLegacy() {
        return new CheckpointTarget("legacy", new PickleOperations(), CheckpointSeeds.legacy());
    }

    @Override
    public List<byte[]> words() {
        return Bytes.split(
                "\"dtype\": \"F64\"|\"shape\": [|\"data_offsets\": [|__metadata__|"
                        + "F16|saccade.model|ctorch._utils\n_rebuild_tensor_v2\n|"
                        + "ccollections\nOrderedDict\n|ctorch\nFloatStorage\n|"
                        + "X\u0007\0\0\0storage|(t|}(|](|\u0085|\u0086|\u0087|q\0|h\0|Q|R|.|"
                        + "0|2|K\u0001|M\u0001\u0001|J\u0001\0\0\0|\u0089|N|b|s|u|e|a|"
                        + "\0\0\0\0|PK\u0003\u0004|PK\u0001\u0002|archive/data/0|data.pkl|"
                        + "byteorder");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        Files.deleteIfExists(FILE);
        Files.write(FILE, input);
        Checkpoint checkpoint = Checkpoints.open(FILE);
        for (Tensor tensor : checkpoint.tensors().values()) {
            assertEquals(tensor.elements() * tensor.type().bytes(), tensor.data().remaining());
            assertEquals(tensor.elements(), tensor.floats().remaining());
        }
        for (String ending : List.of(".safetensors", ".pth")) {
            Path copy = Path.of("copy" + ending);
            if (ending.equals(".safetensors") || !checkpoint.tensors().isEmpty()) {
                Checkpoints.save(copy, checkpoint);
                assertSame(checkpoint, Checkpoints.open(copy));
            }
        }
        readRest(checkpoint);
    }

    private static void assertSame(Checkpoint expected, Checkpoint actual) {
        assertEquals(expected.tensors(), actual.tensors());
        assertEquals(expected.metadata(), actual.metadata());
    }

    /** Reads what a checkpoint need not have. */
    private static void readRest(Checkpoint checkpoint) {
        try {
            ModelSpec.find(checkpoint.metadata(), FILE.toString());
            TorchFile.readAveraged(FILE);
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
        }
    }
}

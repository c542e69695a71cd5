package dev.saccade.checkpoint.pytorch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.MalformedException;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

class PickleTest {

    @Test
    void readsPlainValues() {
        assertEquals(
                Map.of("a", List.of(1L, 2.5, true), "b", -3L),
                read(
                        "\u0080\2}(X\1\0\0\0a](K\1G@\4\0\0\0\0\0\0\u0088eX\1\0\0\0bJ\u00fd\u00ff\u00ff\u00ffu."));
    }

    @Test
    void rejectsAllUnknownCallsTogether() {
        String call = "cos\nsystem\n)R0";
        String made = "csubprocess\nPopen\n)\u00810";
        String state = "cbuiltins\neval\n}b0";
        String later = "X\2\0\0\0osX\4\0\0\0exec\u0093)R0";

        String message = failure("\u0080\4" + call + made + state + later + "N.");

        assertTrue(
                message.contains("builtins.eval, os.exec, os.system, subprocess.Popen"), message);
    }

    @Test
    void allowsNamesThatAreNotCalled() {
        assertEquals(new Pickle.Global("os", "system"), read("\u0080\2cos\nsystem\n."));
    }

    @Test
    void rejectsCallsOfResults() {
        assertTrue(
                failure("\u0080\2cargparse\nNamespace\n)R)R.").contains("not a name"),
                "a result was called");
    }

    /** Training scripts of Swin and Focal Transformer save their config next to the weights. */
    @Test
    void ignoresAStoredConfig() {
        String config = "cyacs.config\nCfgNode\n)\u0081(X\1\0\0\0aK\1u}X\1\0\0\0bNsb";

        Object root = read("\u0080\2}(X\1\0\0\0c" + config + "X\1\0\0\0mK\5u.");

        assertEquals(5L, Pickle.map(root).get("m"));
        assertTrue(Pickle.map(root).get("c") instanceof Pickle.Opaque);
    }

    @Test
    void rejectsOtherOperations() {
        for (char code : "ISFLVgpiPo\u0082\u0083\u0084\u0097\u0098".toCharArray()) {
            assertTrue(failure("\u0080\2" + code + "1\n.").contains("is not supported"));
        }
        assertTrue(failure("\u0080\1N.").contains("protocol 1"));
    }

    @Test
    void rejectsInvalidStreams() {
        for (String stream :
                List.of("", "\u0080\2", "t.", "u.", "(K\1u.", ".", "h\5.", "NNs.", "R.", "b.")) {
            failure(stream);
        }
        failure("X\u00ff\u00ff\u00ff\u007fa.");
        failure("X\u00ff\u00ff\u00ff\u00ffa.");
        failure("\u008b\u00ff\u00ff\u00ff\u007f.");
    }

    @Test
    void handlesCyclicValues() {
        read("]q\0h\0a.");
        read("}q\0(h\0h\0u.");
        failure("]q\0h\0ah\0)R.");
    }

    @Test
    void stopsRepeatedCopies() {
        String pairs = "](" + "X\1\0\0\0aN\u0086".repeat(10_000) + "eq\0";
        String copies = "ccollections\nOrderedDict\nq\1" + "h\1h\0\u0085R".repeat(100_000);

        assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertTrue(failure(pairs + copies + ".").contains("too many")));
    }

    @Property(tries = 2000)
    void readsOrRejectsAnyBytes(@ForAll @Size(max = 64) byte[] bytes) {
        try {
            Pickle.read(ByteBuffer.wrap(bytes), id -> new Pickle.Opaque());
        } catch (MalformedException e) {
            assertTrue(e.getMessage().length() < 2000);
        }
    }

    private static Object read(String stream) {
        ByteBuffer bytes = ByteBuffer.wrap(stream.getBytes(StandardCharsets.ISO_8859_1));
        return Pickle.read(bytes, id -> new Pickle.Opaque());
    }

    private static String failure(String stream) {
        return assertThrows(MalformedException.class, () -> read(stream)).getMessage();
    }
}

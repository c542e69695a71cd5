package dev.saccade.train;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.ndarray.types.Shape;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;

/**
 * What rank 0 has read from a checkpoint and the others are told, besides arrays.
 *
 * @param state how far the run is
 * @param hooks what its hooks have kept
 */
record ResumedState(RunState state, Map<String, Tensor> hooks) {

    byte[] toBytes() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        MapBytes.write(state.toMetadata(), out, ResumedState::write);
        MapBytes.write(hooks, out, ResumedState::write);
        return out.toByteArray();
    }

    /** Writes text of any length, unlike {@code writeUTF}. */
    private static void write(ByteArrayDataOutput out, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String text(ByteArrayDataInput in) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, UTF_8);
    }

    private static void write(ByteArrayDataOutput out, Tensor tensor) {
        out.writeUTF(tensor.type().name());
        long[] dimensions = tensor.shape().getShape();
        out.writeInt(dimensions.length);
        for (long dimension : dimensions) {
            out.writeLong(dimension);
        }
        ByteBuffer data = tensor.data();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    static ResumedState parse(byte[] bytes) {
        ByteArrayDataInput in = ByteStreams.newDataInput(bytes);
        Map<String, String> metadata = MapBytes.read(in, ResumedState::text);
        Map<String, Tensor> hooks = MapBytes.read(in, ResumedState::tensor);
        return new ResumedState(RunState.fromMetadata(Path.of("rank 0"), metadata), hooks);
    }

    private static Tensor tensor(ByteArrayDataInput in) {
        ElementType type = ElementType.valueOf(in.readUTF());
        long[] dimensions = new long[in.readInt()];
        for (int i = 0; i < dimensions.length; i++) {
            dimensions[i] = in.readLong();
        }
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new Tensor(type, new Shape(dimensions), ByteBuffer.wrap(bytes));
    }
}

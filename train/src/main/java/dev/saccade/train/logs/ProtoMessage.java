package dev.saccade.train.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Encodes one protocol buffer message, field by field. */
final class ProtoMessage {

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    ProtoMessage integer(int field, long value) {
        tag(field, VARINT);
        varint(value);
        return this;
    }

    ProtoMessage doubleNumber(int field, double value) {
        tag(field, FIXED64);
        out.writeBytes(littleEndian(Double.BYTES).putDouble(value).array());
        return this;
    }

    ProtoMessage floatNumber(int field, float value) {
        tag(field, FIXED32);
        out.writeBytes(littleEndian(Float.BYTES).putFloat(value).array());
        return this;
    }

    ProtoMessage bytes(int field, byte[] value) {
        tag(field, BYTES);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    ProtoMessage text(int field, String value) {
        return bytes(field, value.getBytes(UTF_8));
    }

    ProtoMessage message(int field, ProtoMessage value) {
        return bytes(field, value.toByteArray());
    }

    byte[] toByteArray() {
        return out.toByteArray();
    }

    static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void tag(int field, int wireType) {
        varint(((long) field << 3) | wireType);
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}

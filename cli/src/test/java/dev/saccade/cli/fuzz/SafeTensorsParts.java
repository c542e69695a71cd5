package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The words of the header of a safetensors file, and its tensors as the last piece. */
final class SafeTensorsParts implements Format {

    @Override
    public List<byte[]> cut(byte[] input) {
        if (input.length < Long.BYTES) {
            return List.of(input);
        }
        long length = ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN).getLong();
        int rest = input.length - Long.BYTES;
        int end = Long.BYTES + (int) (length < 0 ? rest : Math.min(length, rest));
        List<byte[]> pieces = new ArrayList<>(TEXT.cut(Arrays.copyOfRange(input, Long.BYTES, end)));
        pieces.add(Arrays.copyOfRange(input, end, input.length));
        return pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        List<byte[]> words = pieces.subList(0, Math.max(0, pieces.size() - 1));
        byte[] header = Bytes.concat(words);
        byte[] length = Bytes.integer(header.length, Long.BYTES, ByteOrder.LITTLE_ENDIAN);
        return Bytes.concat(
                length, header, Bytes.concat(pieces.subList(words.size(), pieces.size())));
    }
}

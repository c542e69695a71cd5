package dev.saccade.eval.detection;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Serializes predictions without loss, to send them to rank 0. */
final class PredictedInstances {

    private static final int END = -1;

    private PredictedInstances() {}

    /** Serializes predictions by image index; images without a prediction are null. */
    static byte[] write(Instances... byImage) {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        for (int i = 0; i < byImage.length; i++) {
            if (byImage[i] != null) {
                out.writeInt(i);
                write(byImage[i], out);
            }
        }
        out.writeInt(END);
        return out.toByteArray();
    }

    private static void write(Instances instances, ByteArrayDataOutput out) {
        out.writeInt(instances.size());
        out.writeBoolean(instances.hasMasks());
        for (int i = 0; i < instances.size(); i++) {
            out.writeInt(instances.label(i));
            out.writeFloat(instances.score(i));
            out.writeFloat(instances.boxes().x1(i));
            out.writeFloat(instances.boxes().y1(i));
            out.writeFloat(instances.boxes().x2(i));
            out.writeFloat(instances.boxes().y2(i));
            if (instances.hasMasks()) {
                write(instances.mask(i), out);
            }
        }
    }

    private static void write(Rle mask, ByteArrayDataOutput out) {
        byte[] counts = mask.toCompressedString().getBytes(StandardCharsets.US_ASCII);
        out.writeInt(mask.size().height());
        out.writeInt(mask.size().width());
        out.writeInt(counts.length);
        out.write(counts);
    }

    /** Reads predictions into {@code byImage}, at their image indices. */
    static void read(byte[] bytes, Instances... byImage) {
        ByteArrayDataInput in = ByteStreams.newDataInput(bytes);
        for (int i = in.readInt(); i != END; i = in.readInt()) {
            byImage[i] = instances(in);
        }
    }

    private static Instances instances(ByteArrayDataInput in) {
        int size = in.readInt();
        boolean masked = in.readBoolean();
        int[] labels = new int[size];
        float[] scores = new float[size];
        float[] boxes = new float[4 * size];
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            labels[i] = in.readInt();
            scores[i] = in.readFloat();
            for (int edge = 0; edge < 4; edge++) {
                boxes[4 * i + edge] = in.readFloat();
            }
            if (masked) {
                masks.add(mask(in));
            }
        }
        return Instances.predicted(Boxes.of(boxes), labels, scores).withMasks(masks);
    }

    private static Rle mask(ByteArrayDataInput in) {
        Size size = new Size(in.readInt(), in.readInt());
        byte[] counts = new byte[in.readInt()];
        in.readFully(counts);
        return Rle.fromString(size, new String(counts, StandardCharsets.US_ASCII));
    }
}

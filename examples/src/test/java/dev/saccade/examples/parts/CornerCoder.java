package dev.saccade.examples.parts;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Boxes;
import dev.saccade.heads.box.BoxCoder;

/** Writes how far each corner moves, in pixels. */
@Part("corner")
public record CornerCoder() implements BoxCoder {

    @Override
    public float[] encode(Boxes boxes, Boxes targets) {
        float[] deltas = targets.toArray();
        float[] corners = boxes.toArray();
        for (int i = 0; i < deltas.length; i++) {
            deltas[i] -= corners[i];
        }
        return deltas;
    }

    @Override
    public Boxes decode(Boxes boxes, float[] deltas) {
        float[] decoded = deltas.clone();
        float[] corners = boxes.toArray();
        int perBox = boxes.isEmpty() ? 1 : deltas.length / corners.length;
        for (int i = 0; i < decoded.length; i++) {
            decoded[i] += corners[i / 4 / perBox * 4 + i % 4];
        }
        return Boxes.of(decoded);
    }

    @Override
    public NDArray decode(NDArray boxes, NDArray deltas) {
        return boxes.add(deltas);
    }
}

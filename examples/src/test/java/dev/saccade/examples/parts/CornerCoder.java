package dev.saccade.examples.parts;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.Part;
import dev.saccade.heads.box.BoxCoder;

/** Encodes the offset of each corner in pixels. */
@Part("corner")
public record CornerCoder() implements BoxCoder {

    @Override
    public NDArray encode(NDArray boxes, NDArray targets) {
        return targets.sub(boxes);
    }

    @Override
    public NDArray decode(NDArray boxes, NDArray deltas) {
        return boxes.add(deltas);
    }
}

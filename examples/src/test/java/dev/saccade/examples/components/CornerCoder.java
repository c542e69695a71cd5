package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.Component;
import dev.saccade.heads.box.BoxCoder;

/** Encodes the offset of each corner in pixels. */
@Component("corner")
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

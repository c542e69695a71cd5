package dev.saccade.core.nn;

import dev.saccade.core.nn.Conv2d.Geometry;

import java.util.Optional;

/** Normalization of the convolutions of a neck or head. */
public enum Norm {
    /** No normalization; the convolutions have a bias. */
    NONE(Optional.empty()),
    BN(Optional.of(BatchNormType.BN)),
    /** Batch normalization synchronized over all ranks; same as {@link #BN} with one rank. */
    SYNC_BN(Optional.of(BatchNormType.SYNC_BN));

    private final Optional<BatchNormType> type;

    Norm(Optional<BatchNormType> type) {
        this.type = type;
    }

    /** Returns a convolution with normalization, without activation. */
    public ConvModule linear(Geometry geometry, WeightInit init) {
        return type.map(norm -> ConvModule.normLinear(geometry, norm, init))
                .orElseGet(() -> ConvModule.linear(geometry, init));
    }

    /** Returns a 3x3 convolution that keeps the size, with normalization and ReLU. */
    public ConvModule conv(int in, int out) {
        return conv(in, out, 3);
    }

    /** Returns a convolution with odd kernel size that keeps the size, with norm and ReLU. */
    public ConvModule conv(int in, int out, int kernel) {
        Geometry geometry = new Geometry(in, out, kernel).padding(kernel / 2);
        return type.map(norm -> ConvModule.normRelu(geometry, norm))
                .orElseGet(() -> ConvModule.relu(geometry, WeightInit.kaimingNormal()));
    }
}

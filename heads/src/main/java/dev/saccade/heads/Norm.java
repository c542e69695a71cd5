package dev.saccade.heads;

import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;

import java.util.Optional;

/** Normalization between the convolutions of a head and their ReLU. */
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

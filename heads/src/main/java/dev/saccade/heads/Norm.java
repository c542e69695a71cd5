package dev.saccade.heads;

import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;

import java.util.Optional;

/** What stands behind the convolutions of a head, before their ReLU. */
public enum Norm {
    /** Nothing; the convolutions have a bias. */
    NONE(Optional.empty()),
    /** Batch normalization. */
    BN(Optional.of(BatchNormType.BN)),
    /** Batch normalization over all ranks; on one the same as {@link #BN}. */
    SYNC_BN(Optional.of(BatchNormType.SYNC_BN));

    private final Optional<BatchNormType> type;

    Norm(Optional<BatchNormType> type) {
        this.type = type;
    }

    /** Returns a 3x3 convolution with ReLU that keeps the size. */
    public ConvModule conv(int in, int out) {
        return conv(in, out, 3);
    }

    /** Returns a convolution of an odd kernel, with ReLU, that keeps the size. */
    public ConvModule conv(int in, int out, int kernel) {
        Geometry geometry = new Geometry(in, out, kernel).padding(kernel / 2);
        return type.map(norm -> ConvModule.normRelu(geometry, norm))
                .orElseGet(() -> ConvModule.relu(geometry, WeightInit.kaimingNormal()));
    }
}

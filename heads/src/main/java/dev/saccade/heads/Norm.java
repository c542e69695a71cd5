package dev.saccade.heads;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;

/** What stands behind the convolutions of a head, before their ReLU. */
public enum Norm {
    /** Nothing; the convolutions have a bias. */
    NONE,
    /** Batch normalization. */
    BN,
    /** Batch normalization over all devices; on one device the same as {@link #BN}. */
    SYNC_BN;

    /** Returns a 3x3 convolution with ReLU that keeps the size. */
    public ConvModule conv(int in, int out) {
        return conv(in, out, 3);
    }

    /** Returns a convolution of an odd kernel, with ReLU, that keeps the size. */
    public ConvModule conv(int in, int out, int kernel) {
        return this == NONE
                ? ConvModule.relu(
                        new Geometry(in, out, kernel).padding(kernel / 2),
                        WeightInit.kaimingNormal())
                : ConvModule.normRelu(new Geometry(in, out, kernel).padding(kernel / 2));
    }
}

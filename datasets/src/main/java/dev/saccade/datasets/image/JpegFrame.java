package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The components of a JPEG frame.
 *
 * @param mcus number of MCUs down and across
 */
record JpegFrame(Size mcus, List<Component> components) {

    private static final int BLOCK = 8;
    private static final int MOST_COMPONENTS = 4;

    /**
     * A component.
     *
     * @param across blocks per MCU, horizontally
     * @param down blocks per MCU, vertically
     * @param blocks number of blocks without those that only fill the last MCUs
     */
    record Component(int id, int across, int down, Size blocks) {}

    /** Reads the content of a frame segment. */
    static JpegFrame read(ByteBuffer frame) {
        Size size = JpegSegments.size(frame);
        int count = frame.get(5);
        checkArgument(count >= 1 && count <= MOST_COMPONENTS, "too many components");
        int mostAcross = 1;
        int mostDown = 1;
        for (int i = 0; i < count; i++) {
            mostAcross = Math.max(mostAcross, sampling(frame, i) >> 4);
            mostDown = Math.max(mostDown, sampling(frame, i) & 15);
        }
        List<Component> components = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int across = sampling(frame, i) >> 4;
            int down = sampling(frame, i) & 15;
            Size blocks =
                    new Size(
                            blocks(size.height(), down, mostDown),
                            blocks(size.width(), across, mostAcross));
            components.add(new Component(frame.get(6 + 3 * i), across, down, blocks));
        }
        Size mcus =
                new Size(blocks(size.height(), 1, mostDown), blocks(size.width(), 1, mostAcross));
        return new JpegFrame(mcus, List.copyOf(components));
    }

    /** Returns the number of blocks of a component in all MCUs. */
    int paddedBlocks(int component) {
        Component padded = components.get(component);
        return Math.toIntExact(mcus.area() * padded.across() * padded.down());
    }

    private static int sampling(ByteBuffer frame, int component) {
        return Byte.toUnsignedInt(frame.get(7 + 3 * component));
    }

    /**
     * Returns the number of blocks of a component along a side; those of one MCU for sampling 1.
     */
    private static int blocks(int side, int sampling, int mostSampling) {
        int samples = (side * sampling + mostSampling - 1) / mostSampling;
        return (samples + BLOCK - 1) / BLOCK;
    }
}

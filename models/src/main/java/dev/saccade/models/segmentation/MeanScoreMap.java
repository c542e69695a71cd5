package dev.saccade.models.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.vision.BilinearResize;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.nio.ByteOrder;
import java.util.List;

/**
 * Mean class probabilities over test-time augmentations, as in mmsegmentation. Computed tile by
 * tile, so the full map [H, W, K] is never in memory.
 */
public final class MeanScoreMap implements AutoCloseable {

    /** Scores per tile and augmentation; a few float buffers of this size fit into cache. */
    private static final int TILE = 1 << 21;

    /** Scores per tile on GPUs, which need time to start each operator. */
    private static final int GPU_TILE = 1 << 27;

    private static final int MIN_ROWS = 64;

    private final List<ScoreMap> maps;
    private final Size size;
    private final int tile;

    /** Creates the mean of unflipped logits at image size; {@code close} closes {@code maps}. */
    public MeanScoreMap(List<ScoreMap> maps) {
        this(
                maps,
                maps.stream().anyMatch(map -> map.manager().getDevice().isGpu()) ? GPU_TILE : TILE);
    }

    /** Creates the mean with a given number of scores per tile. */
    MeanScoreMap(List<ScoreMap> maps, int tile) {
        this.tile = tile;
        this.maps = ImmutableList.copyOf(maps);
        checkArgument(!maps.isEmpty(), "expected at least one score map");
        size = maps.get(0).size();
        checkArgument(
                maps.stream().allMatch(map -> map.size().equals(size)),
                "the score maps have different sizes");
    }

    /** Returns the probabilities of a tile, {@code [tile height, tile width, K]}. */
    public NDArray probabilities(Tile part) {
        NDArray sums;
        try (NDArray first = maps.get(0).part(part)) {
            sums = Functional.softmax(first, 2);
        }
        for (ScoreMap map : maps.subList(1, maps.size())) {
            try (NDArray scores = map.part(part);
                    NDArray probabilities = Functional.softmax(scores, 2)) {
                sums.addi(probabilities);
            }
        }
        try (NDArray count = Tensors.of(sums.getManager(), maps.size())) {
            return sums.divi(count);
        }
    }

    /**
     * Returns the most probable class of every pixel, the first on ties. Without augmentation,
     * softmax is skipped, as it keeps the order.
     */
    public LabelMap labels() {
        Shape shape = new Shape(size.height(), size.width(), Short.BYTES);
        int pixels = tile / maps.get(0).numClasses();
        int rows = Math.max(MIN_ROWS, pixels / size.width());
        int columns = Math.max(1, pixels / rows);
        try (NDArray labels = maps.get(0).manager().create(shape, DataType.UINT8)) {
            for (int top = 0; top < size.height(); top += rows) {
                int bottom = Math.min(top + rows, size.height());
                for (int left = 0; left < size.width(); left += columns) {
                    int right = Math.min(left + columns, size.width());
                    label(new Tile(top, bottom, left, right), labels);
                }
            }
            return LabelMap.of(size, read(labels));
        }
    }

    private void label(Tile part, NDArray labels) {
        try (NDArray place = labels.get(part.index())) {
            if (maps.size() == 1) {
                maps.get(0).labels().accept(part, place);
            } else {
                try (NDArray probabilities = probabilities(part)) {
                    BilinearResize.labels(probabilities, place);
                }
            }
        }
    }

    private short[] read(NDArray bytes) {
        short[] labels = new short[Math.toIntExact(size.area())];
        Tensors.readBytes(bytes).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(labels);
        return labels;
    }

    @Override
    public void close() {
        maps.forEach(ScoreMap::close);
    }
}

package dev.saccade.core.ops.vision;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Times region operators on an image of 800x1344 pixels, for comparison with torchvision: {@code
 * RegionsBench nms BOXES | paste MASKS | roi_align REGIONS BINS}. Not a test.
 */
final class RegionsBench {

    private static final Logger log = LoggerFactory.getLogger(RegionsBench.class);
    private static final Size IMAGE = new Size(800, 1344);
    private static final List<Integer> STRIDES = List.of(4, 8, 16, 32, 64);
    private static final int CHANNELS = 256;
    private static final int MASK = 28;

    private RegionsBench() {}

    /** Prints the minimum of many runs. */
    public static void main(String[] args) {
        int count = Integer.parseInt(args[1]);
        Boxes boxes = boxes(count);
        switch (args[0]) {
            case "nms" -> nms(boxes);
            case "paste" -> paste(boxes);
            default -> roiAlign(boxes, Integer.parseInt(args[2]));
        }
    }

    /** Returns boxes of 16 to 216 pixels. */
    private static Boxes boxes(int count) {
        SplittableRandom random = new SplittableRandom(count);
        float[] corners = new float[4 * count];
        for (int i = 0; i < corners.length; i += 4) {
            corners[i] = (float) (1120 * random.nextDouble());
            corners[i + 1] = (float) (580 * random.nextDouble());
            corners[i + 2] = corners[i] + 16 + (float) (200 * random.nextDouble());
            corners[i + 3] = corners[i + 1] + 16 + (float) (200 * random.nextDouble());
        }
        return Boxes.of(corners);
    }

    private static void nms(Boxes boxes) {
        NDManager manager = NDManager.newBaseManager("PyTorch");
        int n = boxes.size();
        NDArray corners = manager.create(boxes.toArray(), new Shape(1, n, 4));
        NDArray scores = manager.create(random(n), new Shape(1, n, 1));
        NDArray groups = manager.zeros(new Shape(n), DataType.INT64);
        Nms nms = new Nms(0.5f, Nms.ANY_SCORE, n);
        IntSupplier keep = () -> (int) nms.keep(corners, scores, groups).positions().size();
        time("nms", keep);
        time("nms portable", () -> OperatorLibrary.callPortable(keep::getAsInt));
    }

    private static void paste(Boxes boxes) {
        float[] maps = random(boxes.size() * MASK * MASK);
        Arrays.sort(maps);
        time(
                "paste",
                () ->
                        IntStream.range(0, boxes.size())
                                .mapToObj(
                                        i ->
                                                new MaskPaste(
                                                        MaskStyle.MMDETECTION,
                                                        maps,
                                                        boxes,
                                                        i,
                                                        MASK,
                                                        IMAGE))
                                .mapToInt(mask -> mask.atLeast(0.5f).area())
                                .sum());
    }

    private static int forward(NDArray pooled) {
        try (pooled) {
            return (int) pooled.size();
        }
    }

    private static void roiAlign(Boxes boxes, int bins) {
        RoiAlign align = new RoiAlign(new Size(bins, bins), 0, true);
        int[] levelOf = IntStream.range(0, boxes.size()).map(i -> i % STRIDES.size()).toArray();
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Rois rois = Rois.of(manager, boxes, new int[boxes.size()]);
            NDArray levels = manager.create(levelOf);
            NDList maps = new NDList();
            for (int stride : STRIDES) {
                Shape shape =
                        new Shape(
                                1,
                                CHANNELS,
                                (IMAGE.height() - 1) / stride + 1,
                                (IMAGE.width() - 1) / stride + 1);
                maps.add(MemoryFormat.channelsLast(manager.randomNormal(shape)));
            }
            FeaturePyramid features = new FeaturePyramid(maps);
            time("roi_align", () -> forward(align.pool(features, STRIDES, rois, levels)));
            time("portable", () -> forward(align.portable(features, STRIDES, rois, levels)));
            maps.forEach(map -> map.setRequiresGradient(true));
            time(
                    "roi_align and back",
                    () -> backward(() -> align.pool(features, STRIDES, rois, levels)));
            time(
                    "portable and back",
                    () -> backward(() -> align.portable(features, STRIDES, rois, levels)));
        }
    }

    private static int backward(Supplier<NDArray> pool) {
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector();
                NDArray pooled = pool.get();
                NDArray sum = pooled.sum()) {
            collector.backward(sum);
            return (int) pooled.size();
        }
    }

    private static float[] random(int count) {
        SplittableRandom random = new SplittableRandom(count);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble();
        }
        return values;
    }

    /** Runs for three seconds after a warm-up. */
    private static void time(String name, IntSupplier body) {
        long least = Long.MAX_VALUE;
        int result = body.getAsInt();
        for (long end = System.nanoTime() + 3_000_000_000L; System.nanoTime() < end; ) {
            long start = System.nanoTime();
            result = body.getAsInt();
            least = Math.min(least, System.nanoTime() - start);
        }
        log.info("{}: {} ms ({})", name, least / 1e6, result);
    }
}

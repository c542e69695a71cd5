package dev.saccade.train;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Normalization;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.Batch;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Training batches of random pixels and labels, for benchmarks and memory estimates.
 *
 * @param head determines the type of targets
 * @param channels channels of the images
 */
public record RandomBatches(HeadConfig head, int classes, int channels) {

    static {
        OpenCv.load();
    }

    private static final int OBJECTS = 20;

    /**
     * Returns a batch, the same for equal arguments. Fails if the batch does not fit into memory.
     */
    public Batch of(int images, Size size) {
        List<Sample> samples = new ArrayList<>();
        try {
            IntStream.range(0, images).forEach(image -> samples.add(sample(image, size)));
            return Batch.collate(samples);
        } finally {
            samples.forEach(Sample::close);
        }
    }

    private Sample sample(int image, Size size) {
        Mat pixels = new Mat(size.height(), size.width(), CvType.CV_8UC(channels));
        Core.setRNGSeed(image);
        Mat values = pixels.reshape(1);
        Core.randu(values, 0, 255);
        values.release();
        ImageInfo info = ImageInfo.of(image, "", size);
        Sample sample =
                switch (head.targets()) {
                    case BOXES, MASKS -> Sample.of(pixels, info, objects(image, size));
                    case LABEL_MAPS -> Sample.of(pixels, info, labels(image, size, classes));
                    case CLASSES -> Sample.of(pixels, info, image % classes);
                    case MASKS_AND_LABEL_MAPS ->
                            Sample.of(
                                    pixels,
                                    info,
                                    objects(image, size),
                                    labels(image, size, head.semanticClasses()));
                };
        float[] mean = new float[channels];
        float[] std = new float[channels];
        Arrays.fill(mean, 128);
        Arrays.fill(std, 64);
        return sample.withNormalization(new Normalization(mean, std));
    }

    /** Returns random objects whose masks fill their boxes. */
    private Instances objects(int image, Size size) {
        SplittableRandom random = SeededRandom.of(0, image);
        float[] boxes = new float[4 * OBJECTS];
        int[] labels = new int[OBJECTS];
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            float x = (float) (random.nextDouble() * 0.8 * size.width());
            float y = (float) (random.nextDouble() * 0.8 * size.height());
            float x2 = x + (float) ((0.05 + random.nextDouble() * 0.15) * size.width());
            float y2 = y + (float) ((0.05 + random.nextDouble() * 0.15) * size.height());
            System.arraycopy(new float[] {x, y, x2, y2}, 0, boxes, 4 * i, 4);
            labels[i] = random.nextInt(classes);
            masks.add(Rle.fromBox(size, x, y, x2 - x, y2 - y));
        }
        return Instances.groundTruth(Boxes.of(boxes), labels).withMasks(masks);
    }

    private static LabelMap labels(int image, Size size, int classes) {
        SplittableRandom random = SeededRandom.of(0, image);
        short[] labels = new short[Math.toIntExact(size.area())];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = (short) random.nextInt(classes);
        }
        return LabelMap.of(size, labels);
    }
}

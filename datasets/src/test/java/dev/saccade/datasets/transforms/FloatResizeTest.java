package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.pillow.CenterCrop;
import dev.saccade.datasets.pillow.Interpolation;
import dev.saccade.datasets.pillow.RandomResizedCrop;

import org.junit.jupiter.api.Test;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Transforms of classifiers with float pixels and more than four channels. */
class FloatResizeTest {

    private static Sample sample(Mat image) {
        Size size = new Size(image.rows(), image.cols());
        return Sample.of(image, ImageInfo.of(0, "image", size), Instances.empty());
    }

    /** Returns bytes [H, W, 3] far from 0 and 255, so that bicubic filters do not clip. */
    private static Mat bytes(int height, int width) {
        OpenCv.load();
        Mat image = new Mat(height, width, CvType.CV_8UC3);
        SplittableRandom random = new SplittableRandom(1);
        byte[] values = new byte[3 * height * width];
        for (int i = 0; i < values.length; i++) {
            values[i] = (byte) (90 + random.nextInt(60));
        }
        image.put(0, 0, values);
        return image;
    }

    @Test
    void resizesEachChannelLikeBytes() {
        for (Interpolation filter : List.of(Interpolation.BILINEAR, Interpolation.BICUBIC)) {
            for (Size to : List.of(new Size(9, 40), new Size(31, 8), new Size(70, 60))) {
                RandomResizedCrop resize =
                        new RandomResizedCrop(
                                List.of(to.height(), to.width()),
                                List.of(0.5, 1.0),
                                List.of(0.5, 2.0),
                                filter,
                                false);
                RandomResizedCrop.Crop crop = new RandomResizedCrop.Crop(3, 5, 40, 33);
                Mat expected = resize.crop(sample(bytes(50, 44)), crop, filter).image();
                expected.convertTo(expected, CvType.CV_32F);
                Mat resized = resize.crop(sample(sixChannels(bytes(50, 44))), crop, filter).image();
                List<Mat> channels = new ArrayList<>();
                Core.split(resized, channels);
                List<Mat> colors = new ArrayList<>();
                Core.split(expected, colors);
                for (int c = 0; c < 6; c++) {
                    double most = Core.norm(channels.get(c), colors.get(c / 2), Core.NORM_INF);
                    assertEquals(0, most, 1.2, filter + " to " + to);
                }
            }
        }
    }

    /** Returns each channel twice, as float32. */
    private static Mat sixChannels(Mat image) {
        List<Mat> channels = new ArrayList<>();
        Core.split(image, channels);
        List<Mat> twice = new ArrayList<>();
        for (Mat channel : channels) {
            twice.add(channel);
            twice.add(channel);
        }
        Mat six = new Mat();
        Core.merge(twice, six);
        six.convertTo(six, CvType.CV_32F);
        return six;
    }

    @Test
    void padsAllChannels() {
        Mat six = sixChannels(bytes(4, 5));
        float[] before = new float[6];
        six.get(1, 2, before);
        Sample padded = new CenterCrop(List.of(8, 7)).apply(sample(six), new SplittableRandom(0));
        float[] after = new float[6];
        padded.image().get(3, 3, after);
        assertEquals(before[5], after[5]);
        padded.image().get(0, 0, after);
        assertEquals(0, after[5]);
    }
}

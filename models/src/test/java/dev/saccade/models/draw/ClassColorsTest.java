package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.ade20k.Ade20kClasses;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.HashSet;
import java.util.List;

class ClassColorsTest {

    static {
        OpenCv.load();
    }

    @Test
    void usesThePublishedAde20kColors() {
        List<Integer> colors = ClassColors.of(Ade20kClasses.NAMES);
        assertEquals(0x787878, colors.get(0));
        assertEquals(0xcc05ff, colors.get(7));
        assertEquals(colors.get(6), colors.get(48));
        assertEquals(149, new HashSet<>(colors).size());
    }

    /** Distances in CIELAB, which was not used to select the colors; 2 is barely visible. */
    @ParameterizedTest
    @CsvSource({"8, 40", "11, 35", "20, 18", "80, 12", "150, 9", "256, 5"})
    void keepsClassesApart(int classes, double least) {
        Mat colors = new Mat(classes, 1, CvType.CV_32FC3);
        for (int label = 0; label < classes; label++) {
            int rgb = ClassColors.rgb(label);
            colors.put(
                    label, 0, (rgb & 0xFF) / 255.0, (rgb >> 8 & 0xFF) / 255.0, (rgb >> 16) / 255.0);
        }
        Imgproc.cvtColor(colors, colors, Imgproc.COLOR_BGR2Lab);
        double nearest = Double.MAX_VALUE;
        for (int i = 0; i < classes; i++) {
            for (int j = 0; j < i; j++) {
                double[] a = colors.get(i, 0);
                double[] b = colors.get(j, 0);
                nearest =
                        Math.min(
                                nearest,
                                Math.hypot(Math.hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
            }
        }
        assertTrue(nearest >= least, "nearest " + nearest);
    }
}

package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

class CountCanvasTest {

    private static final double[] COLOR = {0, 230, 255};

    private Mat image;

    @BeforeEach
    void create() {
        OpenCv.load();
        image = new Mat(200, 300, CvType.CV_8UC3, new Scalar(0, 0, 0));
    }

    @AfterEach
    void release() {
        image.release();
    }

    private boolean isColored(int x, int y) {
        return image.get(y, x)[2] > 100;
    }

    private void draw(double... corners) {
        image.setTo(new Scalar(0, 0, 0));
        CountCanvas.draw(image, ImmutableDoubleArray.copyOf(corners), "in 1, out 0");
    }

    @Test
    void anArrowPointsToTheLeftSideOfALine() {
        draw(0, 100, 300, 100);
        assertArrayEquals(COLOR, image.get(100, 250));
        assertTrue(isColored(150, 90));
        assertFalse(isColored(150, 110));
        draw(300, 100, 0, 100);
        assertFalse(isColored(150, 90));
        assertTrue(isColored(150, 110));
        draw(150, 0, 150, 200);
        assertTrue(isColored(160, 100));
        assertFalse(isColored(140, 100));
    }

    @Test
    void theArrowIsInTheMiddleOfTheVisiblePart() {
        draw(0, 100, 900, 100);
        assertTrue(isColored(150, 90));
    }

    @Test
    void zonesHaveNoArrow() {
        draw(0, 100, 300, 100, 300, 199, 0, 199);
        assertFalse(isColored(150, 90));
        assertFalse(isColored(150, 110));
    }
}

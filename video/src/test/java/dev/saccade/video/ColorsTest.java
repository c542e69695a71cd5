package dev.saccade.video;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Clips of four patches over four patches, encoded with several matrices, ranges and formats. */
class ColorsTest {

    private static final int TOLERANCE = 3;

    /** RGB. */
    private static final double[][] PATCHES = {
        {200, 30, 30}, {30, 160, 30}, {30, 30, 200}, {230, 180, 150},
        {200, 200, 30}, {30, 180, 180}, {128, 128, 128}, {250, 250, 250}
    };

    @TempDir Path folder;

    private static double[] patch(Mat image, int index) {
        int row = image.rows() * (1 + 2 * (index / 4)) / 4;
        int column = image.cols() * (1 + 2 * (index % 4)) / 8;
        double[] bgr = image.get(row, column);
        return new double[] {bgr[2], bgr[1], bgr[0]};
    }

    @ParameterizedTest
    @CsvSource({
        "bt601.mp4, ''",
        "bt709.mp4, ''",
        "bt709_full.mp4, ''",
        "bt2020_10bit.mp4, BT.2020 primaries are not converted",
        "hlg.webm, HDR (HLG) is not tone-mapped",
        "untagged_hd.mp4, color matrix is not tagged; BT.709 is assumed",
        "rgb.mp4, ''",
    })
    void colorsFollowTheTagsOfTheFile(String name, String note) throws IOException {
        Path file = Clips.copy(folder, name);
        try (Video video = Video.open(file)) {
            List<Double> frames =
                    Clips.read(
                            video,
                            frame -> {
                                for (int i = 0; i < PATCHES.length; i++) {
                                    assertArrayEquals(
                                            PATCHES[i], patch(frame.image(), i), TOLERANCE);
                                }
                            });
            assertTrue(frames.size() > 0);
            assertEquals(Optional.empty(), video.fault());
            if (note.isEmpty()) {
                assertEquals(List.of(), video.notes());
            } else {
                assertEquals(1, video.notes().size());
                assertTrue(video.notes().get(0).startsWith(file + ": " + note));
            }
        }
    }

    @Test
    void rejectsOtherColorMatrices() throws IOException {
        Path file = Clips.copy(folder, "ycgco.mp4");
        try (Video video = Video.open(file)) {
            SaccadeException refused = assertThrows(SaccadeException.class, video::next);
            assertTrue(
                    refused.getMessage()
                            .startsWith(file + ": color matrix ycgco is not supported"));
        }
    }

    @Test
    void grayInLimitedRangeIsExpanded() throws IOException {
        try (Video video = Video.open(Clips.copy(folder, "gray_limited.mp4"));
                Video.Frame frame = video.next().orElseThrow()) {
            for (int i = 0; i < PATCHES.length; i++) {
                double mean = (PATCHES[i][0] + PATCHES[i][1] + PATCHES[i][2]) / 3;
                assertArrayEquals(
                        new double[] {mean, mean, mean}, patch(frame.image(), i), TOLERANCE);
            }
        }
    }
}

package dev.saccade.video;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.Bytes;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Damaged clips, and clips with properties that are reported. */
class FaultTest {

    /** Offset in clip.mp4 of the data of frame 9; key frames are 0, 11 and 22. */
    private static final int NINTH = 1966;

    @TempDir Path folder;

    private static List<Double> times(int count) {
        List<Double> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            times.add(i / 10.0);
        }
        return times;
    }

    private static void assertTimes(List<Double> expected, List<Double> actual) {
        assertEquals(expected.size(), actual.size());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i), actual.get(i), 1e-9);
        }
    }

    @Test
    void concealedFramesAreReportedUpToTheNextKeyFrame() throws IOException {
        byte[] clip = Clips.bytes("clip.mp4");
        clip[NINTH + 20] ^= 0x55;
        Path file = Files.write(folder.resolve("damaged.mp4"), clip);
        try (Video video = Video.open(file)) {
            assertTimes(times(30), Clips.read(video));
            assertEquals(Optional.of(file + ": frames 7 to 10 may be damaged"), video.fault());
        }
    }

    @Test
    void reportsPacketsWithoutFrame() throws IOException {
        byte[] clip = Clips.bytes("clip.mp4");
        clip[NINTH] ^= 0x55;
        Path file = Files.write(folder.resolve("damaged.mp4"), clip);
        try (Video video = Video.open(file)) {
            assertEquals(29, Clips.read(video).size());
            String fault = video.fault().orElseThrow();
            assertTrue(fault.contains("1 packet cannot be decoded, the first near frame "), fault);
        }
    }

    @Test
    void missingPacketsOfATransportStreamAreReported() throws IOException {
        List<Byte> packets = new ArrayList<>(Bytes.asList(Clips.bytes("clip.ts")));
        packets.subList(10 * 188, 12 * 188).clear();
        Path file = Files.write(folder.resolve("damaged.ts"), Bytes.toArray(packets));
        try (Video video = Video.open(file)) {
            Clips.read(video);
            String fault = video.fault().orElseThrow();
            assertTrue(fault.endsWith("may be damaged"), fault);
        }
    }

    @Test
    void timesIncreaseWhereTimeStampsRestart() throws IOException {
        byte[] clip = Clips.bytes("clip.ts");
        Path file = Files.write(folder.resolve("joined.ts"), Bytes.concat(clip, clip, clip));
        try (Video video = Video.open(file)) {
            assertTimes(times(18), Clips.read(video));
            assertEquals(Optional.empty(), video.fault());
            assertEquals(1, video.notes().size());
            assertTrue(
                    video.notes().get(0).contains("time stamps restart 2 times, first at 0.60 s"));
        }
    }

    @Test
    void propertiesThatAreNotAppliedAreReported() throws IOException {
        Path file = Clips.copy(folder, "odd.mkv");
        Video closed;
        try (Video video = Video.open(file)) {
            closed = video;
            Clips.read(video);
            assertEquals(Optional.empty(), video.fault());
            String notes = String.join("\n", video.notes());
            assertTrue(notes.contains("frames are interlaced"), notes);
            assertTrue(notes.contains("pixels are not square (4:3)"), notes);
            assertTrue(notes.contains("players show 85x48"), notes);
            assertTrue(notes.contains("2 video streams; only stream 0 is read"), notes);
        }
        assertEquals(3, closed.notes().size());
    }

    @Test
    void aCoverImageIsNotAVideo() throws IOException {
        Path file = Clips.copy(folder, "audio_cover.mp4");
        SaccadeException refused =
                assertThrows(SaccadeException.class, () -> Video.open(file).close());
        assertTrue(refused.getMessage().startsWith(file + ": contains no video"));
    }
}

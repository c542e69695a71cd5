package dev.saccade.video.tracking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

class TrackerTest {

    private static final Tracker.Source SOURCE = new Tracker.Source(0.5, 30);
    private static final Size SIZE = new Size(200, 300);

    static DetectedObject object(int label, double score, double x, double y, double edge) {
        Box box = new Box(x, y, x + edge, y + edge);
        return new DetectedObject("class" + label, label, score, box, Optional.empty());
    }

    private static Tracker tracker(String type, String... settings) {
        return type.equals("byte_track")
                ? Configs.of(ByteTrack.Config.class, settings).build(SOURCE)
                : Configs.of(OcSort.Config.class, settings).build(SOURCE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void trackContinuesAfterAnOcclusion(String type) {
        Tracker tracker = tracker(type);
        Set<Integer> ids = new HashSet<>();
        int reported = 0;
        for (int frame = 0; frame < 60; frame++) {
            boolean isHidden = frame >= 20 && frame < 35;
            List<DetectedObject> objects =
                    isHidden ? List.of() : List.of(object(0, 0.9, 4 * frame, 50, 40));
            List<TrackedObject> tracked = tracker.update(objects);
            tracked.forEach(each -> ids.add(each.id()));
            reported += tracked.size();
            assertTrue(!isHidden || tracked.isEmpty(), "frame " + frame);
        }
        assertEquals(Set.of(1), ids);
        assertTrue(reported >= 43, reported + " frames");
    }

    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void trackEndsAfterItsBuffer(String type) {
        Tracker tracker = tracker(type);
        Set<Integer> ids = new HashSet<>();
        for (int frame = 0; frame < 100; frame++) {
            boolean isHidden = frame >= 20 && frame < 60;
            tracker.update(isHidden ? List.of() : List.of(object(0, 0.9, 50, 50, 40)))
                    .forEach(each -> ids.add(each.id()));
        }
        assertEquals(Set.of(1, 2), ids);
    }

    /** Moves two objects of different classes; the class of the second one is exchanged. */
    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void classesAreMixedOnRequestOnly(String type) {
        for (boolean mixes : new boolean[] {false, true}) {
            Tracker tracker = tracker(type, "mix_classes=" + mixes);
            Set<Integer> ids = new HashSet<>();
            for (int frame = 0; frame < 30; frame++) {
                int label = frame < 15 ? 0 : 1;
                tracker.update(List.of(object(label, 0.9, 50, 50, 40)))
                        .forEach(each -> ids.add(each.id()));
            }
            assertEquals(mixes ? 1 : 2, ids.size(), "mixes " + mixes);
        }
    }

    @Test
    void lowScoresContinueTracksButStartNone() {
        Tracker tracker = tracker("byte_track");
        List<Integer> ids = new ArrayList<>();
        for (int frame = 0; frame < 10; frame++) {
            double score = frame == 0 ? 0.9 : 0.2;
            tracker.update(
                            List.of(
                                    object(0, score, 50 + frame, 50, 40),
                                    object(0, 0.3, 150, 50, 40)))
                    .forEach(each -> ids.add(each.id()));
        }
        assertEquals(List.of(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), ids);
        assertEquals(0.1, tracker.minScore());
        assertEquals(0.5, tracker("oc_sort").minScore());
        assertEquals(0.1, tracker("oc_sort", "use_byte=true").minScore());
    }

    @Test
    void bufferDependsOnTheFrameRate() {
        assertEquals(15, new Tracker.Source(0.5, 15).frames(30));
        assertEquals(60, new Tracker.Source(0.5, 60).frames(30));
    }

    private static DetectedObject diagonal(double x, boolean falls) {
        byte[] bitmap = new byte[SIZE.height() * SIZE.width()];
        for (int i = 0; i < 60; i++) {
            for (int j = -3; j <= 3; j++) {
                int column = (int) x + 5 + (falls ? i : 60 - i) + j;
                bitmap[(50 + i) * SIZE.width() + column] = 1;
            }
        }
        Rle mask = Rle.encode(SIZE, bitmap);
        Rle.Bounds bounds = mask.bounds();
        Box box =
                new Box(
                        bounds.x(),
                        bounds.y(),
                        bounds.x() + bounds.width(),
                        bounds.y() + bounds.height());
        return new DetectedObject("key", 0, 0.9, box, Optional.of(mask));
    }

    /** Two crossed bars have the same box; only their masks differ. */
    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void masksSeparateObjectsWithEqualBoxes(String type) {
        Tracker tracker = tracker(type, "similarity=mask");
        for (int frame = 0; frame < 40; frame++) {
            // The detections change places in the list in every frame.
            boolean first = frame % 2 == 0;
            List<TrackedObject> tracked =
                    tracker.update(
                            List.of(diagonal(2 * frame, first), diagonal(2 * frame, !first)));
            for (TrackedObject each : tracked) {
                boolean falls = each.object().mask().equals(diagonal(2 * frame, true).mask());
                assertEquals(falls ? 1 : 2, each.id(), "frame " + frame);
            }
            assertTrue(frame < 4 || tracked.size() == 2, "frame " + frame);
        }
    }

    @Test
    void maskSimilarityNeedsMasks() {
        Tracker tracker = tracker("byte_track", "similarity=mask");
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class,
                        () -> tracker.update(List.of(object(0, 0.9, 50, 50, 40))));
        assertTrue(refused.getMessage().contains("needs a detector that predicts masks"));
    }

    @Test
    void wrongSettingsAreReportedTogether() {
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class,
                        () -> tracker("byte_track", "match_thresh=2", "track_buffer=-1"));
        assertTrue(refused.getMessage().contains("match_thresh"), refused.getMessage());
        assertTrue(refused.getMessage().contains("track_buffer"), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void boxesWithoutAreaAreOmitted(String type) {
        Tracker tracker = tracker(type);
        for (int frame = 0; frame < 5; frame++) {
            assertEquals(List.of(), tracker.update(List.of(object(0, 0.9, 50, 50, 0))));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void detectionsThatAreNotFiniteAreRejected(String type) {
        Tracker tracker = tracker(type, "mix_classes=true");
        List<DetectedObject> good = List.of(object(0, 0.9, 50, 50, 40));
        tracker.update(good);
        double infinite = Double.POSITIVE_INFINITY;
        for (DetectedObject bad :
                List.of(
                        object(0, Double.NaN, 50, 50, 40),
                        object(0, 87, 50, 50, 40),
                        object(0, -0.1, 50, 50, 40),
                        object(0, 0.9, Double.NaN, 50, 40),
                        object(0, 0.9, 50, 50, infinite),
                        object(0, 0.9, 1e300, 50, 1e300))) {
            String message =
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> tracker.update(List.of(good.get(0), bad)))
                            .getMessage();
            assertTrue(message.contains("expected a score from 0 to 1"), message);
        }
        assertEquals(1, tracker.update(good).get(0).id());
    }

    /** Costs stay finite for boxes of any size. */
    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void extremeBoxesAreTracked(String type) {
        Tracker tracker = tracker(type);
        for (int frame = 0; frame < 20; frame++) {
            List<DetectedObject> objects = new ArrayList<>();
            for (double edge : new double[] {1e-300, 1e-30, 1e-6, 1, 1e6, 9e8}) {
                objects.add(object(0, 0.9, frame % 7, 0, edge));
            }
            assertTrue(tracker.update(objects).size() <= objects.size());
        }
    }

    /** State of old tracks is dropped although new ones start in every frame. */
    @ParameterizedTest
    @ValueSource(strings = {"byte_track", "oc_sort"})
    void longVideosNeedConstantMemory(String type) {
        Tracker tracker = tracker(type);
        LineCounter line = LineCounter.of(0, 500, 1000, 500);
        ZoneCounter zone = ZoneCounter.of(0, 0, 1000, 0, 500, 1000);
        SplittableRandom random = new SplittableRandom(3);
        long[] used = new long[2];
        int frames = 10_000;
        for (int frame = 0; frame < frames; frame++) {
            List<DetectedObject> objects = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                double x = (137 * i + 3 * frame) % 1000;
                double y = (241 * i + 2 * frame) % 1000;
                if (random.nextInt(10) > 0) {
                    objects.add(object(i % 3, 0.5 + random.nextDouble() / 2, x, y, 60));
                }
            }
            objects.add(object(0, 0.7, random.nextInt(1000), random.nextInt(1000), 50));
            List<TrackedObject> tracked = tracker.update(objects);
            line.update(tracked);
            zone.update(tracked);
            if (frame == frames / 2 || frame == frames - 1) {
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                used[frame == frames / 2 ? 0 : 1] = runtime.totalMemory() - runtime.freeMemory();
            }
        }
        assertTrue(used[1] - used[0] < 4 << 20, used[0] + " and then " + used[1] + " bytes");
    }
}

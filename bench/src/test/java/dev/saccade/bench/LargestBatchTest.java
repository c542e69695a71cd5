package dev.saccade.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

class LargestBatchTest {

    private static final long FIXED = 100;
    private static final long EACH = 10;

    private final List<Integer> tried = new ArrayList<>();
    private long clock;

    /** A step whose time is given for each image. */
    private LargestBatch find(long usable, long nanos, LargestBatch.Need need) {
        Ticker ticker =
                new Ticker() {
                    @Override
                    public long read() {
                        return clock;
                    }
                };
        LargestBatch.Need timed =
                images -> {
                    tried.add(images);
                    clock += nanos * images;
                    return need.peakBytes(images);
                };
        return new LargestBatch.Search(usable, 256, timed, ticker).search();
    }

    private LargestBatch find(long usable) {
        return find(usable, 1, images -> FIXED + EACH * images);
    }

    @ParameterizedTest
    @CsvSource({"109, 0", "110, 1", "1000, 90", "1009, 90", "1010, 91", "740, 64", "739, 63"})
    void findsTheLargestBatch(long usable, int images) {
        LargestBatch found = find(usable);
        assertEquals(images, found.images());
        assertEquals(images, found.tried());
        int maxImages = tried.stream().max(Integer::compare).orElseThrow();
        assertTrue(FIXED + EACH * maxImages <= Math.max(usable, FIXED + EACH), "tried " + tried);
    }

    @Test
    void outOfMemoryDoesNotFit() {
        LargestBatch found =
                find(
                        1 << 30,
                        1,
                        images -> {
                            if (images > 37) {
                                throw new IllegalStateException("CUDA out of memory. Tried to");
                            }
                            return FIXED + EACH * images;
                        });
        assertEquals(37, found.images());
    }

    @Test
    void extrapolatesBeyondTheMaximum() {
        LargestBatch found = find(FIXED + 5000 * EACH);
        assertEquals(new LargestBatch(5000, 256, FIXED + 5000 * EACH, 50_100), found);
        assertEquals(256, tried.get(tried.size() - 1));
    }

    @Test
    void extrapolatesLongSteps() {
        LargestBatch found = find(1000, 2_000_000_000L, images -> FIXED + EACH * images);
        assertEquals(90, found.images());
        assertEquals(List.of(1, 1, 2), tried);
        assertTrue(found.toString().contains("about 90 images, 0 MiB of"), found.toString());
        assertTrue(found.toString().endsWith("(tried: 2)"), found.toString());
    }

    @Test
    void modelsThatNeedTwoImagesStartWithTwo() {
        LargestBatch.Need need =
                images -> {
                    if (images < 2) {
                        throw SaccadeException.user("train with at least 2 images a batch");
                    }
                    return FIXED + EACH * images;
                };
        assertEquals(20, find(FIXED + 20 * EACH, 1, need).images());
        LargestBatch.Need never =
                images -> {
                    throw SaccadeException.user("no model");
                };
        assertThrows(SaccadeException.class, () -> find(1000, 1, never));
    }
}

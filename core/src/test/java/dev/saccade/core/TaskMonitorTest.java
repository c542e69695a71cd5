package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;

class TaskMonitorTest {

    private final List<TaskProgress> reports = new ArrayList<>();
    private final TaskMonitor monitor = new TaskMonitor(reports::add);

    @Test
    void reportsStepsAndRemainingTime() {
        try (ProgressBar bar = monitor.open("read", 4, " files")) {
            bar.step();
            bar.to(3);
            bar.step();
        }
        assertEquals(List.of(1L, 3L, 4L), reports.stream().map(TaskProgress::done).toList());
        assertEquals("files", reports.get(0).unit());
        assertEquals(Optional.empty(), reports.get(0).remaining());
        assertTrue(reports.get(1).remaining().orElseThrow().toNanos() > 0);
        assertEquals(0, reports.get(2).remaining().orElseThrow().toNanos());
        try (ProgressBar unknown = monitor.open("read", -1, " files")) {
            unknown.to(7);
            unknown.to(9);
        }
        assertEquals(Optional.empty(), reports.get(4).remaining());
    }

    @Test
    void cancelledTasksEndAfterTheirStep() {
        AtomicInteger stops = new AtomicInteger();
        monitor.onCancel(stops::incrementAndGet);
        ProgressBar bar = monitor.open("read", 4, " files");
        bar.step();
        assertFalse(monitor.isCancelled());
        monitor.cancel();
        monitor.cancel();
        assertTrue(monitor.isCancelled());
        assertThrows(CancellationException.class, bar::step);
        assertEquals(2, reports.size());
        assertThrows(TaskCancelledException.class, () -> monitor.open("write", 1, " files"));
        assertEquals(1, stops.get());
        monitor.onCancel(stops::incrementAndGet);
        assertEquals(2, stops.get());
    }
}

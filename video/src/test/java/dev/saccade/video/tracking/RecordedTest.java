package dev.saccade.video.tracking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.io.Resources;

import dev.saccade.config.Configs;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Trackers give the same identities as the original programs: BYTETracker of ifzhang/ByteTrack and
 * OCSort of noahcao/OC_SORT, with the assignment of scipy and an IoU of continuous boxes.
 */
class RecordedTest {

    private static final Tracker.Source SOURCE = new Tracker.Source(0.5, 30);

    /** A detection and its identity according to each original tracker; 0: none. */
    record Row(int frame, DetectedObject object, List<Integer> ids) {

        static Row of(String line) {
            String[] cells = line.split(",", -1);
            double[] numbers = new double[6];
            for (int i = 1; i < numbers.length; i++) {
                numbers[i] = Double.parseDouble(cells[i]);
            }
            Box box =
                    new Box(
                            numbers[1],
                            numbers[2],
                            numbers[1] + numbers[3],
                            numbers[2] + numbers[4]);
            return new Row(
                    Integer.parseInt(cells[0]),
                    new DetectedObject("coin", 0, numbers[5], box, Optional.empty()),
                    List.of(cells).subList(6, 9).stream().map(Integer::valueOf).toList());
        }
    }

    static Map<Integer, List<Row>> frames() throws IOException {
        return Resources.readLines(Resources.getResource(RecordedTest.class, "recorded.csv"), UTF_8)
                .stream()
                .skip(1)
                .map(Row::of)
                .collect(Collectors.groupingBy(Row::frame, TreeMap::new, Collectors.toList()));
    }

    @ParameterizedTest
    @CsvSource({"0,byte_track,", "1,oc_sort,", "2,oc_sort,use_byte=true"})
    void identitiesMatchTheOriginal(int column, String type, String setting) throws IOException {
        Tracker tracker =
                type.equals("byte_track")
                        ? Tracker.byteTrack(SOURCE)
                        : Configs.of(
                                        OcSort.Config.class,
                                        setting == null ? new String[0] : new String[] {setting})
                                .build(SOURCE);
        int tracked = 0;
        for (List<Row> rows : frames().values()) {
            List<String> expected = new ArrayList<>();
            rows.stream()
                    .filter(row -> row.ids.get(column) > 0)
                    .forEach(row -> expected.add(row.ids.get(column) + " " + row.object.box()));
            List<String> actual =
                    tracker.update(rows.stream().map(Row::object).toList()).stream()
                            .map(each -> each.id() + " " + each.object().box())
                            .sorted()
                            .toList();
            assertEquals(expected.stream().sorted().toList(), actual, "frame " + rows.get(0).frame);
            tracked += actual.size();
        }
        assertTrue(tracked > 700, tracked + " tracked detections");
    }

    @Test
    void updatesAreDeterministic() throws IOException {
        Map<Integer, List<Row>> frames = frames();
        List<List<TrackedObject>> results = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            Tracker tracker = Tracker.ocSort(SOURCE);
            List<TrackedObject> all = new ArrayList<>();
            frames.values()
                    .forEach(
                            rows ->
                                    all.addAll(
                                            tracker.update(
                                                    rows.stream().map(Row::object).toList())));
            results.add(all);
        }
        assertEquals(results.get(0), results.get(1));
    }
}

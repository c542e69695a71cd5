package dev.saccade.report.runs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;

class RelativeNamesTest {

    private static List<String> names(String... files) {
        return RelativeNames.of(List.of(files).stream().map(Path::of).toList());
    }

    @Test
    void filesOfOneFolderKeepTheirNames() {
        assertEquals(List.of("1.jpg", "2.jpg"), names("data/images/1.jpg", "data/images/2.jpg"));
        assertEquals(List.of("1.jpg"), names("1.jpg"));
        assertEquals(List.of(), names());
    }

    @Test
    void equalNamesInDifferentFoldersAreDistinguished() {
        assertEquals(
                List.of("left/1.jpg", "left/2.jpg", "right/1.jpg"),
                names("data/left/1.jpg", "data/left/2.jpg", "data/../data/right/1.jpg"));
    }
}

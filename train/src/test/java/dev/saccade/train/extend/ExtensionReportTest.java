package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.extend.ExtensionReport.Additions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

class ExtensionReportTest {

    @TempDir Path run;

    @Test
    void readsCompleteReportsOnly() throws IOException {
        assertEquals(Optional.empty(), ExtensionReport.read(run));
        ClassAp added = new ClassAp("cup", "AP", Optional.empty(), Optional.of(0.5));
        ExtensionReport report =
                new ExtensionReport(
                        new ClassComparison(List.of(), List.of(added)),
                        0.01,
                        1,
                        2,
                        new Additions(3, 2, 1, 0),
                        Additions.NONE,
                        0);
        Path file = Files.write(run.resolve(ExtensionReport.FILE), report.toJson());
        assertEquals(Optional.of(report), ExtensionReport.read(run));

        String json = Files.readString(file);
        for (String damaged :
                List.of(
                        json.replace("\"trainings\" : 2,", ""),
                        json.replace("\"trainings\" : 2", "\"trainings\" : 0"),
                        json.replace("\"trainings\" : 2", "\"trainings\" : null"),
                        "[]")) {
            Files.writeString(file, damaged);
            SaccadeException error =
                    assertThrows(SaccadeException.class, () -> ExtensionReport.read(run), damaged);
            assertEquals(SaccadeException.Kind.USER, error.kind());
            assertTrue(error.getMessage().contains("damaged file"), error.getMessage());
        }
    }
}

package dev.saccade.parity;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The cases in this module's resources, which always run. */
class BundledCasesTest {

    private static final Logger log = LoggerFactory.getLogger(BundledCasesTest.class);

    @TestFactory
    Stream<DynamicTest> recorded() throws IOException, URISyntaxException {
        Path root = Path.of(BundledCasesTest.class.getResource("/own").toURI());
        return Fixtures.cases(root).stream()
                .map(folder -> dynamicTest(Fixtures.name(root, folder), () -> run(folder)));
    }

    private static void run(Path folder) {
        try (Case recorded = Case.open(folder)) {
            Kinds.run(recorded);
            log.info("{} passed: {}", folder.getFileName(), recorded.worst());
        }
    }
}

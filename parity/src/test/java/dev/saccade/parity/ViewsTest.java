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

/** Merged views, held against cases of this module whatever others there are. */
class ViewsTest {

    private static final Logger log = LoggerFactory.getLogger(ViewsTest.class);

    @TestFactory
    Stream<DynamicTest> recorded() throws IOException, URISyntaxException {
        Path root = Path.of(ViewsTest.class.getResource("/views").toURI());
        return Fixtures.cases(root).stream()
                .map(folder -> dynamicTest(Fixtures.name(root, folder), () -> run(folder)));
    }

    private static void run(Path folder) throws Exception {
        try (Case recorded = Case.open(folder)) {
            Kinds.run(recorded);
            log.info("{} passed: {}", folder.getFileName(), recorded.worst());
        }
    }
}

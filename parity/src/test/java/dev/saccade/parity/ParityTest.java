package dev.saccade.parity;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.stream.Stream;

class ParityTest {

    private static final Logger log = LoggerFactory.getLogger(ParityTest.class);

    @TestFactory
    Stream<DynamicTest> recorded() throws IOException, URISyntaxException {
        Path root = Fixtures.root();
        log.info("recorded cases from {}", root);
        return Fixtures.cases(root).stream()
                .map(
                        folder -> {
                            String name = Fixtures.name(root, folder);
                            return dynamicTest(name, () -> run(name, folder));
                        });
    }

    private static void run(String name, Path folder) throws Exception {
        try (Case recorded = Case.open(folder)) {
            Kinds.run(recorded);
            log.info("{} passed: {}", name, recorded.worst());
        } catch (TestAbortedException e) {
            log.info("{} skipped: {}", name, e.getMessage());
            throw e;
        } catch (Exception | AssertionError e) {
            // Maven's summary numbers the tests; this line has the case name.
            log.error("{} failed: {}", name, e.getMessage());
            throw e;
        }
    }
}

package dev.saccade.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.testsupport.DocPage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** The programs and properties of {@code spring.md} are the ones that the other tests run. */
class SpringPageTest {

    @ParameterizedTest
    @CsvSource({"main/java/org/example/Finder.java", "test/java/org/example/FinderTest.java"})
    void showsTestedPrograms(String file) throws IOException {
        Path tested = Path.of("src/test/java/org/example").resolve(Path.of(file).getFileName());
        assertEquals(Files.readString(tested), DocPage.of("spring.md").files().get("src/" + file));
    }

    @Test
    void showsTestedProperties() throws IOException {
        Properties page = new Properties();
        page.load(
                new StringReader(
                        DocPage.of("spring.md")
                                .files()
                                .get("src/main/resources/application.properties")));
        Set<String> tested = new TreeSet<>(FinderServiceTest.PROPERTIES.keySet());
        tested.add("saccade.model");
        assertEquals(tested, new TreeSet<>(page.stringPropertyNames()));
    }
}

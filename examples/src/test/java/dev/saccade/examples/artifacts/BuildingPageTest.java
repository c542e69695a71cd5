package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.testsupport.DocPage;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs the builds of {@code building.md} with Maven and a local repository. */
@EnabledIf(
        value = "dev.saccade.examples.artifacts.Built#areJars",
        disabledReason = "modules are folders of classes here; mvn verify makes jars of them")
class BuildingPageTest {

    @TempDir Path project;
    private static DocPage page;
    private static LocalRepository repository;

    @BeforeAll
    static void prepare() throws IOException {
        page = DocPage.of("building.md");
        repository = LocalRepository.install();
    }

    @Test
    void programRunsFromMaven() throws Exception {
        page.section("Build with Maven").writeTo(project);
        SmallDetector detector = SmallDetector.in(project);
        detector.assertFound(repository.run(project, page.command("mvn compile exec:java")));
    }

    @Test
    void programRunsAsJarAndModule() throws Exception {
        page.writeTo(project);
        List<String> plugins = page.blocks("xml", "<plugin>");
        assertEquals(2, plugins.size(), "plugins on the page");
        Path pom = project.resolve("pom.xml");
        String end = "</plugins>";
        Files.writeString(pom, Files.readString(pom).replace(end, String.join("", plugins) + end));
        SmallDetector detector = SmallDetector.in(project);
        repository.run(project, "mvn -B -q package");
        detector.assertFound(repository.run(project, page.command("java -jar")));
        detector.assertFound(repository.run(project, page.command("java --module-path")));
    }

    @Test
    void gradleBuildHasSameArtifacts() {
        String text = page.text();
        assertTrue(text.contains("platform(\"dev.saccade:saccade-bom:" + Built.VERSION + "\")"));
        assertTrue(text.contains("implementation(\"dev.saccade:saccade-models\")"));
        assertTrue(text.contains("<version>" + Built.VERSION + "</version>"));
    }
}

package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import com.google.common.base.Splitter;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Does what {@code building.md} says, as somebody would who has Maven and a local repository with
 * Saccade in it.
 */
@EnabledIf(
        value = "dev.saccade.examples.artifacts.Built#areJars",
        disabledReason = "modules are folders of classes here; mvn verify makes jars of them")
class BuildingPageTest {

    private static final Path PAGE = Path.of("..", "docs", "building.md");

    private static final Pattern FILE =
            Pattern.compile(
                    "^`([^`\n]+)`\n\n```\\w*\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern PLUGIN =
            Pattern.compile("^```xml\n(<plugin>.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern MODULE =
            Pattern.compile("^```java\n(module .*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern COMMAND =
            Pattern.compile("^```sh\n(.*?)\n```", Pattern.DOTALL | Pattern.MULTILINE);

    @TempDir static Path folder;
    private static String page;
    private static SmallDetector detector;
    private static Path repository;

    @BeforeAll
    static void prepare() throws IOException {
        page = Files.readString(PAGE);
        detector = SmallDetector.in(Files.createDirectory(folder.resolve("files")));
        repository = repository(Path.of("target", "repository").toAbsolutePath());
    }

    /**
     * Returns a local repository as {@code mvn install} leaves it: links to all that is in this
     * one, and Saccade. It is in no temporary folder, whose links would be deleted one by one.
     */
    private static Path repository(Path made) throws IOException {
        Files.createDirectories(made);
        Path local = Path.of(System.getProperty("localRepository")).toRealPath();
        try (Stream<Path> groups = Files.list(local)) {
            for (Path group : groups.filter(group -> !group.endsWith("dev")).toList()) {
                Path link = made.resolve(group.getFileName());
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, group);
            }
        }
        install(made, "saccade", Path.of(".."));
        for (String module : Pom.of(Path.of("..")).texts("/project/modules/module")) {
            install(made, "saccade-" + module, Path.of("..", module));
            Path jar = Built.jar(module).orElse(null);
            if (jar != null) {
                Files.copy(jar, place(made, "saccade-" + module, ".jar"), REPLACE_EXISTING);
            }
        }
        return made;
    }

    private static void install(Path repository, String artifact, Path module) throws IOException {
        Path pom = place(repository, artifact, ".pom");
        Files.createDirectories(pom.getParent());
        Files.copy(module.resolve("pom.xml"), pom, REPLACE_EXISTING);
    }

    private static Path place(Path repository, String artifact, String ending) {
        String file = artifact + "-" + Built.VERSION + ending;
        return repository.resolve(Path.of("dev", "saccade", artifact, Built.VERSION, file));
    }

    /** Writes the files of the page, with what comes beside the plugins of its pom. */
    private static Path project(String name, List<String> plugins) throws IOException {
        Path project = folder.resolve(name);
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Path path = project.resolve(file.group(1));
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.group(2));
        }
        Path pom = project.resolve("pom.xml");
        String end = "</plugins>";
        Files.writeString(pom, Files.readString(pom).replace(end, String.join("", plugins) + end));
        return project;
    }

    private static String maven(Path project, String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("mvn", "-B", "-q", "-Dmaven.repo.local=" + repository));
        command.addAll(List.of(arguments));
        return Built.run(project, command);
    }

    /** Returns a command of the page, with the files of this test for those that it names. */
    private static List<String> command(String start) {
        String line =
                COMMAND.matcher(page)
                        .results()
                        .map(block -> block.group(1))
                        .filter(block -> block.startsWith(start))
                        .findFirst()
                        .orElseThrow();
        return Splitter.on(' ')
                .splitToStream(line.replace("\"", ""))
                .map(word -> word.equals("java") ? Built.java(word) : word)
                .map(word -> word.replace("detector.safetensors", "" + detector.checkpoint()))
                .map(word -> word.replace("photo.jpg", "" + detector.photo()))
                .toList();
    }

    @Test
    void theProgramRunsFromMaven() throws Exception {
        List<String> line = command("mvn compile exec:java");
        String arguments = String.join(" ", line.subList(3, line.size()));
        String printed = maven(project("plain", List.of()), line.get(1), line.get(2), arguments);
        detector.assertFound(printed);
    }

    @Test
    void theProgramRunsAsOneJarAndAsAModule() throws Exception {
        List<String> plugins =
                PLUGIN.matcher(page).results().map(plugin -> plugin.group(1)).toList();
        assertEquals(2, plugins.size(), "plugins on the page");
        Path project = project("packed", plugins);
        Matcher module = MODULE.matcher(page);
        assertTrue(module.find());
        Files.writeString(project.resolve("src/main/java/module-info.java"), module.group(1));
        maven(project, "package");
        detector.assertFound(Built.run(project, command("java -jar")));
        detector.assertFound(Built.run(project, command("java --module-path")));
    }

    @Test
    void gradleIsToldOfTheSameArtifacts() {
        assertTrue(page.contains("platform(\"dev.saccade:saccade-bom:" + Built.VERSION + "\")"));
        assertTrue(page.contains("implementation(\"dev.saccade:saccade-models\")"));
        assertTrue(page.contains("<version>" + Built.VERSION + "</version>"));
    }
}

package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.testsupport.DocPage;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Runs the programs of {@code frameworks.md} and {@code spring.md}; Maven downloads the frameworks
 * at first.
 */
@EnabledIfSystemProperty(
        named = "saccade.frameworks",
        matches = "true",
        disabledReason = "fetches Kotlin, Spring Boot and Quarkus: -Dsaccade.frameworks=true")
@EnabledIf(
        value = "dev.saccade.examples.artifacts.Built#areJars",
        disabledReason = "modules are folders of classes here; mvn verify makes jars of them")
class FrameworksRunTest {

    /** Retries until the server is up. */
    private static final String PATIENTLY =
            "curl --silent --show-error --retry 120 --retry-delay 1 --retry-connrefused ";

    private static final String SPRING_POM =
            """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
              <modelVersion>4.0.0</modelVersion>
              <parent>
                <groupId>org.springframework.boot</groupId>
                <artifactId>spring-boot-starter-parent</artifactId>
                <version>VERSION</version>
              </parent>
              <groupId>org.example</groupId>
              <artifactId>finder</artifactId>
              <version>1.0</version>
              <properties>
                <java.version>17</java.version>
              </properties>
              <dependencies>
              DEPENDENCIES
              </dependencies>
              <build>
                <plugins>
                  <plugin>
                    <groupId>org.springframework.boot</groupId>
                    <artifactId>spring-boot-maven-plugin</artifactId>
                  </plugin>
                </plugins>
              </build>
            </project>
            """;

    @TempDir Path project;
    private static DocPage page;
    private static LocalRepository repository;

    @BeforeAll
    static void prepare() throws IOException {
        page = DocPage.of("frameworks.md");
        repository = LocalRepository.install();
    }

    @Test
    void kotlinProgramRuns() throws Exception {
        page.section("Write a Kotlin program").writeTo(project);
        SmallDetector detector = SmallDetector.in(project);
        detector.assertFound(repository.run(project, page.command("mvn compile exec:java")));
    }

    @Test
    void quarkusServiceResponds() throws Exception {
        DocPage section = page.section("Create a Quarkus service");
        section.writeTo(project);
        SmallDetector detector = SmallDetector.in(project);
        repository.run(project, section.command("mvn package"));
        assertResponds(
                section.command("java"),
                "QUARKUS_HTTP_PORT",
                detector,
                "400",
                "/q/metrics",
                "/q/health");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.9"})
    void springServiceResponds(String version) throws Exception {
        DocPage spring = DocPage.of("spring.md");
        spring.writeTo(project);
        Files.delete(project.resolve("src/test/java/org/example/FinderTest.java"));
        SmallDetector detector = SmallDetector.in(project);
        Files.writeString(
                project.resolve("pom.xml"),
                SPRING_POM
                        .replace("VERSION", version)
                        .replace(
                                "DEPENDENCIES",
                                String.join("", spring.blocks("xml", "<dependency>"))));
        repository.run(project, "mvn package");
        assertResponds(
                "java -jar target/finder-1.0.jar --saccade.model=detector.safetensors",
                "SERVER_PORT",
                detector,
                "422",
                "/actuator/prometheus",
                "/actuator/health");
    }

    /** Starts a service and asserts its objects, the status of an invalid image, and its state. */
    private void assertResponds(
            String start,
            String portVariable,
            SmallDetector detector,
            String refused,
            String metrics,
            String health)
            throws Exception {
        ProcessBuilder command = repository.command(project, start);
        String free = freePort();
        command.environment().put(portVariable, free);
        Path log = project.resolve("server.log");
        Process server = command.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            detector.assertFound(lines(ask("photo.jpg", free)));
            assertEquals(
                    refused, ask("pom.xml --output refused.txt --write-out %{http_code}", free));
            assertContains(get(free, metrics), "saccade_predict_seconds_count{");
            assertContains(get(free, metrics), "saccade_errors_total{");
            assertContains(get(free, health), "\"UP\"");
        } catch (AssertionError e) {
            throw new AssertionError(Files.readString(log), e);
        } finally {
            server.destroy();
            server.waitFor();
        }
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return "" + socket.getLocalPort();
        }
    }

    private static void assertContains(String text, String part) {
        assertTrue(text.contains(part), () -> part + " is missing in " + text);
    }

    private String get(String port, String path) throws Exception {
        return repository.run(project, "curl --silent --show-error localhost:" + port + path);
    }

    /** Returns the response to the request of the page, with another image. */
    private String ask(String photo, String port) throws Exception {
        String request = page.section("Send an image to the service").command("curl ");
        return repository.run(
                project,
                request.replace("curl ", PATIENTLY)
                        .replace("8080", port)
                        .replace("photo.jpg", photo));
    }

    /** Formats the objects of a response like the other programs. */
    private static String lines(String json) throws IOException {
        return StreamSupport.stream(new ObjectMapper().readTree(json).spliterator(), false)
                .map(FrameworksRunTest::line)
                .collect(Collectors.joining("\n"));
    }

    private static String line(JsonNode object) {
        JsonNode box = object.get("box");
        return String.format(
                Locale.ROOT,
                "%s %s Box[x1=%s, y1=%s, x2=%s, y2=%s]",
                object.get("label").asText(),
                object.get("score"),
                box.get("x1"),
                box.get("y1"),
                box.get("x2"),
                box.get("y2"));
    }
}

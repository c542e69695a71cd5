package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Checks poms for the requirements of Maven Central, and the BOM for completeness. */
class PomsTest {

    /** Modules that are not published. */
    private static final Set<String> PRIVATE = Set.of("examples", "parity", "test-support");

    private static final Pom ROOT = Pom.of(Path.of(".."));

    static List<String> modules() {
        return ROOT.texts("/project/modules/module");
    }

    @ParameterizedTest
    @MethodSource("modules")
    void pomsHaveDescriptions(String module) {
        Pom pom = Pom.of(Path.of("..", module));
        assertEquals("saccade-" + module, pom.text("/project/artifactId"));
        assertEquals("saccade-" + module, pom.text("/project/name"));
        assertFalse(pom.text("/project/description").isBlank());
        assertTrue(Files.isRegularFile(Path.of("..", module, "README.md")), "no README.md");
        assertEquals(
                PRIVATE.contains(module),
                pom.text("/project/properties/maven.deploy.skip").equals("true"));
    }

    @Test
    void pomsWithoutParentAreComplete() {
        for (Pom pom : List.of(ROOT, Pom.of(Path.of("..", "bom")))) {
            assertEquals("Apache-2.0", pom.text("/project/licenses/license/name"));
            assertFalse(pom.text("/project/licenses/license/url").isBlank());
            assertFalse(pom.text("/project/developers/developer/name").isBlank());
            assertEquals(ROOT.text("/project/version"), pom.text("/project/version"));
            assertEquals("${saccade.url}", pom.text("/project/url"));
            assertEquals("scm:git:${saccade.url}.git", pom.text("/project/scm/connection"));
            assertEquals(
                    ROOT.text("/project/properties/saccade.url"),
                    pom.text("/project/properties/saccade.url"));
        }
    }

    @Test
    void bomHasEveryPublishedModule() {
        Set<String> published = new TreeSet<>(modules());
        published.removeAll(PRIVATE);
        published.remove("bom");
        List<String> managed =
                Pom.of(Path.of("..", "bom"))
                        .texts(
                                "//dependencyManagement//dependency[groupId='dev.saccade']/artifactId")
                        .stream()
                        .map(name -> name.substring("saccade-".length()))
                        .toList();
        assertEquals(published, new TreeSet<>(managed));
        assertEquals(
                PRIVATE,
                new TreeSet<>(
                        ROOT.texts("//excludeArtifact").stream()
                                .map(name -> name.substring("saccade-".length()))
                                .toList()));
    }

    @Test
    void bomVersionsMatchTheBuild() {
        Pom bom = Pom.of(Path.of("..", "bom"));
        for (String property : List.of("djl.version", "libtorch.version")) {
            String path = "/project/properties/" + property;
            assertEquals(ROOT.text(path), bom.text(path), property);
        }
    }
}

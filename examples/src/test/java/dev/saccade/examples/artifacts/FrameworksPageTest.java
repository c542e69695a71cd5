package dev.saccade.examples.artifacts;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableSet.toImmutableSet;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.testsupport.DocPage;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Checks the programs of {@code frameworks.md} without the frameworks; {@link FrameworksRunTest}
 * runs them.
 */
class FrameworksPageTest {

    private static final Pattern IMPORT =
            Pattern.compile("^import ([\\w.]+\\.(\\w+));?$", Pattern.MULTILINE);

    /** Compiler errors about missing frameworks. */
    private static final Pattern UNKNOWN =
            Pattern.compile(
                    "package (?!dev\\.saccade|java\\.)\\S+ does not exist|symbol:"
                            + " +(?:class|variable) (\\w+)");

    private static DocPage page;

    @TempDir Path project;

    @BeforeAll
    static void read() throws IOException {
        page = DocPage.of("frameworks.md");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Write a Kotlin program", "Create a Quarkus service"})
    void pomMatchesTheBuild(String section) throws IOException {
        page.section(section).writeTo(project);
        Pom pom = Pom.of(project);
        String saccade = "//dependency[groupId='dev.saccade'][artifactId='saccade-models']/version";
        assertEquals(Built.VERSION, pom.text(saccade));
        assertFalse(pom.text("//plugin/artifactId").isEmpty(), "no plugin");
    }

    @Test
    void kotlinImportsExist() {
        String program =
                page.section("Write a Kotlin program")
                        .files()
                        .get("src/main/kotlin/org/example/Finder.kt");
        for (String name : imports(program, 1)) {
            assertDoesNotThrow(() -> Class.forName(name), name);
        }
    }

    /** All compiler errors are about missing frameworks. */
    @ParameterizedTest
    @ValueSource(strings = {"Create a Quarkus service"})
    void programsMatchTheApi(String section) throws IOException {
        page.section(section).writeTo(project);
        Path program = Path.of("src/main/java/org/example/Finder.java");
        ImmutableSet<String> imported =
                imports(page.section(section).files().get(program.toString()), 2);
        ImmutableList<String> wrong =
                errors(project.resolve(program)).stream()
                        .filter(error -> !isOfFramework(error, imported))
                        .collect(toImmutableList());
        assertEquals(ImmutableList.of(), wrong);
    }

    private static ImmutableSet<String> imports(String program, int group) {
        return IMPORT.matcher(program)
                .results()
                .map(line -> line.group(group))
                .collect(toImmutableSet());
    }

    private static boolean isOfFramework(String error, ImmutableSet<String> imported) {
        Matcher unknown = UNKNOWN.matcher(error);
        return unknown.find() && (unknown.group(1) == null || imported.contains(unknown.group(1)));
    }

    private static ImmutableList<String> errors(Path program) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, null, null)) {
            ImmutableList<String> options =
                    ImmutableList.of(
                            "-proc:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "1000");
            var sources = files.getJavaFileObjects(program);
            compiler.getTask(null, files, found, options, null, sources).call();
        }
        return found.getDiagnostics().stream()
                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                .map(each -> each.getMessage(Locale.ENGLISH))
                .collect(toImmutableList());
    }
}

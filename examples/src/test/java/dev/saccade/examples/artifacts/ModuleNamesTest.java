package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Provides;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Jars are modules with stable names, disjoint packages and all services. */
class ModuleNamesTest {

    /** Modules without {@code module-info}: not published, or with Spark's jars. */
    private static final Set<String> AUTOMATIC =
            Set.of("examples", "parity", "spark", "test-support");

    private static final Path HOME = Path.of("..");

    @Test
    void pomsNameTheirModules() {
        for (String module : Pom.of(HOME).texts("/project/modules/module")) {
            if (!module.equals("bom")) {
                assertEquals(
                        "dev.saccade." + module.replace("-", ""),
                        Pom.of(HOME.resolve(module)).text("/project/properties/module.name"));
            }
        }
    }

    @Test
    @EnabledIf(
            value = "dev.saccade.examples.artifacts.Built#areJars",
            disabledReason = "modules are folders of classes here; mvn verify makes jars of them")
    void jarsAreModules() throws IOException {
        Map<String, String> owners = new HashMap<>();
        List<String> split = new ArrayList<>();
        int jars = 0;
        for (String module : Pom.of(HOME).texts("/project/modules/module")) {
            Path jar = Built.jar(module).orElse(null);
            if (jar == null) {
                continue;
            }
            jars++;
            Set<ModuleReference> found = ModuleFinder.of(jar).findAll();
            ModuleDescriptor descriptor = found.iterator().next().descriptor();
            assertEquals("dev.saccade." + module.replace("-", ""), descriptor.name());
            assertEquals(AUTOMATIC.contains(module), descriptor.isAutomatic(), module);
            assertEquals(services(jar), provided(descriptor), module);
            for (String each : descriptor.packages()) {
                String other = owners.putIfAbsent(each, module);
                if (other != null) {
                    split.add(each + " is in " + other + " and in " + module);
                }
            }
        }
        assertEquals(List.of(), split);
        assertTrue(jars >= 15, jars + " jars");
    }

    private static Map<String, Set<String>> provided(ModuleDescriptor descriptor) {
        return descriptor.provides().stream()
                .collect(Collectors.toMap(Provides::service, each -> Set.copyOf(each.providers())));
    }

    /** Returns the providers in {@code META-INF/services}, which Java uses on the class path. */
    private static Map<String, Set<String>> services(Path jar) throws IOException {
        Map<String, Set<String>> services = new HashMap<>();
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            Path folder = files.getPath("META-INF", "services");
            if (Files.isDirectory(folder)) {
                try (Stream<Path> list = Files.list(folder)) {
                    for (Path each : list.toList()) {
                        services.put(
                                each.getFileName().toString(),
                                Set.copyOf(Files.readAllLines(each)));
                    }
                }
            }
        }
        return services;
    }
}

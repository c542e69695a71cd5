package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Jars are modules with stable names and disjoint packages. */
class ModuleNamesTest {

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
    void jarsAreModules() {
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
}

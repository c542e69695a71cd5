package dev.saccade.cli.sbom;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Default;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Content of {@code licenses.yaml}.
 *
 * @param allowed SPDX ids
 * @param artifacts SPDX ids by group and artifact, for POMs without or with an unusual license
 * @param natives native libraries whose license or version differs from the license or version of
 *     their jar
 */
record LicensePolicy(
        List<String> allowed, Map<String, String> artifacts, List<NativeLibrary> natives) {

    /**
     * Native libraries.
     *
     * @param path regular expression of paths in jars
     * @param version {@link #UNKNOWN} if it is neither in the file nor in its name
     * @param contains versions of statically linked libraries by name
     */
    record NativeLibrary(
            String path,
            String version,
            String license,
            Optional<String> cpe,
            @Default("{}") Map<String, String> contains) {}

    static final String UNKNOWN = "unknown";

    static LicensePolicy load(Path file) {
        return Configs.bind(ConfigFile.load(file, List.of()), LicensePolicy.class);
    }

    Optional<NativeLibrary> library(String path) {
        return natives.stream().filter(each -> path.matches(each.path)).findFirst();
    }
}

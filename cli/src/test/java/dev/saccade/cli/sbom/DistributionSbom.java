package dev.saccade.cli.sbom;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.cli.sbom.DependencyTree.Artifact;
import dev.saccade.core.Problems;

import org.cyclonedx.Version;
import org.cyclonedx.exception.GeneratorException;
import org.cyclonedx.generators.BomGeneratorFactory;
import org.cyclonedx.model.Bom;
import org.cyclonedx.model.Component;
import org.cyclonedx.model.Dependency;
import org.cyclonedx.model.Hash;
import org.cyclonedx.model.License;
import org.cyclonedx.model.LicenseChoice;
import org.cyclonedx.model.Metadata;
import org.cyclonedx.model.Property;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Writes the SBOM of the distribution in CycloneDX, and THIRD-PARTY.txt. Fails if a license is not
 * allowed. Equal distributions have equal SBOMs, so these have no date and no serial number.
 *
 * <p>Its components are the jars in the folder {@code lib}; the components of a jar are its native
 * libraries.
 */
public final class DistributionSbom {

    /** Property of a native library: its path in the jar. */
    static final String PATH = "saccade:path";

    static final String SBOM = "sbom.cdx.json";
    static final String THIRD_PARTY = "THIRD-PARTY.txt";

    private final DependencyTree tree;
    private final PomLicenses poms;
    private final LicensePolicy policy;
    private final String policyFile;
    private final Path lib;
    private final Problems problems = new Problems();

    private DistributionSbom(Path tree, Path repository, Path policy, Path lib) throws IOException {
        this.tree = DependencyTree.read(tree);
        this.poms = new PomLicenses(repository);
        this.policy = LicensePolicy.load(policy);
        this.policyFile = policy.getFileName().toString();
        this.lib = lib;
    }

    /**
     * Runs in the build.
     *
     * @param args output of {@code dependency:tree}, local Maven repository, {@code licenses.yaml},
     *     folder of the distribution
     */
    public static void main(String[] args) throws IOException, GeneratorException {
        Path distribution = Path.of(args[3]);
        new DistributionSbom(
                        Path.of(args[0]),
                        Path.of(args[1]),
                        Path.of(args[2]),
                        distribution.resolve("lib"))
                .write(distribution);
    }

    private void write(Path folder) throws IOException, GeneratorException {
        List<Component> components = components();
        problems.throwIfAny("licenses of the distribution");
        Bom bom = new Bom();
        bom.setMetadata(metadata());
        bom.setComponents(components);
        bom.setDependencies(dependencies());
        Files.writeString(
                folder.resolve(SBOM),
                BomGeneratorFactory.createJson(Version.VERSION_16, bom).toJsonString() + "\n");
        Files.writeString(folder.resolve(THIRD_PARTY), thirdParty(components));
    }

    private Metadata metadata() {
        Component distribution = new Component();
        distribution.setType(Component.Type.APPLICATION);
        distribution.setGroup(tree.root().group());
        distribution.setName("saccade");
        distribution.setVersion(tree.root().version());
        distribution.setBomRef("saccade");
        distribution.setLicenses(choice(List.of("Apache-2.0")));
        Metadata metadata = new Metadata();
        metadata.setTimestamp(null);
        metadata.setComponent(distribution);
        return metadata;
    }

    private List<Dependency> dependencies() {
        Map<String, Dependency> graph = new TreeMap<>();
        Dependency distribution = new Dependency("saccade");
        tree.dependencies().keySet().stream()
                .map(artifact -> new Dependency(artifact.purl()))
                .forEach(distribution::addDependency);
        graph.put("", distribution);
        tree.dependencies()
                .forEach(
                        (artifact, children) -> {
                            Dependency node = new Dependency(artifact.purl());
                            children.forEach(
                                    child -> node.addDependency(new Dependency(child.purl())));
                            graph.put(artifact.purl(), node);
                        });
        return List.copyOf(graph.values());
    }

    private List<Component> components() throws IOException {
        Map<String, Artifact> artifacts = tree.byFile();
        List<Path> jars;
        try (Stream<Path> files = Files.list(lib)) {
            jars = files.sorted().toList();
        }
        return jars.parallelStream()
                .map(
                        jar -> {
                            Artifact artifact = artifacts.get(jar.getFileName().toString());
                            if (artifact == null) {
                                throw new IllegalStateException(
                                        jar
                                                + ": is not a dependency; delete cli/target and build it"
                                                + " again");
                            }
                            return component(artifact, jar);
                        })
                .toList();
    }

    private Component component(Artifact artifact, Path jar) {
        try {
            List<String> licenses = licenses(artifact);
            Component component = new Component();
            component.setType(Component.Type.LIBRARY);
            component.setGroup(artifact.group());
            component.setName(artifact.name());
            component.setVersion(artifact.version());
            component.setPurl(artifact.purl());
            component.setBomRef(artifact.purl());
            component.setLicenses(choice(licenses));
            component.setHashes(
                    List.of(new Hash(Hash.Algorithm.SHA_256, Checkpoints.checksum(jar))));
            List<Component> natives = new ArrayList<>();
            NativeLibraries.checksums(jar)
                    .forEach(
                            (path, checksum) ->
                                    natives.add(library(artifact, licenses, path, checksum)));
            if (!natives.isEmpty()) {
                component.setComponents(natives);
            }
            return component;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Component library(
            Artifact artifact, List<String> licenses, String path, String checksum) {
        Component library = new Component();
        library.setType(Component.Type.LIBRARY);
        library.setName(path.substring(path.lastIndexOf('/') + 1));
        library.setVersion(artifact.version());
        library.setBomRef(artifact.purl() + "#" + path);
        library.setHashes(List.of(new Hash(Hash.Algorithm.SHA_256, checksum)));
        library.setLicenses(choice(licenses));
        Property place = new Property();
        place.setName(PATH);
        place.setValue(path);
        library.addProperty(place);
        policy.library(path)
                .ifPresent(
                        known -> {
                            library.setVersion(version(known.version()));
                            library.setLicenses(choice(List.of(known.license())));
                            known.cpe().ifPresent(library::setCpe);
                            addContained(library, known.contains());
                            requireAllowed(artifact, path, List.of(known.license()));
                        });
        return library;
    }

    private static void addContained(Component library, Map<String, String> contained) {
        new TreeMap<>(contained)
                .forEach(
                        (name, version) -> {
                            Component linked = new Component();
                            linked.setType(Component.Type.LIBRARY);
                            linked.setName(name);
                            linked.setVersion(version(version));
                            linked.setBomRef(library.getBomRef() + "#" + name);
                            library.addComponent(linked);
                        });
    }

    /** Returns null, which omits the version, if it is unknown. */
    private static String version(String version) {
        return version.equals(LicensePolicy.UNKNOWN) ? null : version;
    }

    /** Returns the SPDX ids of an artifact; reports licenses that are not allowed. */
    private List<String> licenses(Artifact artifact) throws IOException {
        if (artifact.group().equals(tree.root().group())) {
            return List.of("Apache-2.0");
        }
        String known = policy.artifacts().get(artifact.group() + ":" + artifact.name());
        List<String> licenses = known == null ? poms.of(artifact) : List.of(known);
        requireAllowed(artifact, artifact.file(), licenses);
        return licenses;
    }

    /** Of several licenses, the user may choose an allowed one. */
    private void requireAllowed(Artifact artifact, String file, List<String> licenses) {
        if (licenses.stream().noneMatch(policy.allowed()::contains)) {
            synchronized (problems) {
                problems.add(
                        "%s (%s): license %s is not allowed; remove the dependency, or add the SPDX"
                                + " id to allowed, artifacts or natives in cli/%s",
                        artifact.coordinates(),
                        file,
                        licenses.isEmpty() ? "unknown" : String.join(" or ", licenses),
                        policyFile);
            }
        }
    }

    private static LicenseChoice choice(List<String> ids) {
        LicenseChoice choice = new LicenseChoice();
        for (String id : ids) {
            License license = new License();
            if (id.contains(" ")) {
                license.setName(id);
            } else {
                license.setId(id);
            }
            choice.addLicense(license);
        }
        return choice;
    }

    private static String thirdParty(List<Component> components) {
        StringBuilder text =
                new StringBuilder(
                        "Libraries in lib and their licenses (SPDX ids), and the native libraries"
                                + " in them. sbom.cdx.json has their checksums.\n");
        for (Component component : components) {
            text.append('\n').append(line("", component));
            if (component.getComponents() != null) {
                component.getComponents().forEach(library -> text.append(line("  ", library)));
            }
        }
        return text.toString();
    }

    private static String line(String indent, Component component) {
        List<String> licenses =
                component.getLicenses().getLicenses().stream()
                        .map(
                                license ->
                                        license.getId() == null
                                                ? license.getName()
                                                : license.getId())
                        .toList();
        String name =
                component.getGroup() == null
                        ? component.getProperties().get(0).getValue()
                        : component.getGroup() + ":" + component.getName();
        String version = component.getVersion() == null ? "" : " " + component.getVersion();
        return indent + name + version + ", " + String.join(" or ", licenses) + "\n";
    }
}

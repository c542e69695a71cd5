package dev.saccade.cli.sbom;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Output of {@code dependency:tree} in JSON.
 *
 * @param root the project
 * @param dependencies runtime dependencies of each artifact
 */
record DependencyTree(Artifact root, Map<Artifact, List<Artifact>> dependencies) {

    /** A Maven artifact; an empty classifier means none. */
    record Artifact(String group, String name, String version, String type, String classifier) {

        String file() {
            return name + "-" + version + (classifier.isEmpty() ? "" : "-" + classifier) + ".jar";
        }

        String coordinates() {
            return group + ":" + name + ":" + version;
        }

        String purl() {
            String qualifiers = classifier.isEmpty() ? "" : "classifier=" + classifier + "&";
            return "pkg:maven/"
                    + group
                    + "/"
                    + name
                    + "@"
                    + version
                    + "?"
                    + qualifiers
                    + "type="
                    + type;
        }
    }

    static DependencyTree read(Path file) throws IOException {
        JsonNode tree = new ObjectMapper().readTree(file.toFile());
        Map<Artifact, List<Artifact>> dependencies = new LinkedHashMap<>();
        return new DependencyTree(add(tree, dependencies), dependencies);
    }

    private static Artifact add(JsonNode node, Map<Artifact, List<Artifact>> dependencies) {
        Artifact artifact =
                new Artifact(
                        node.path("groupId").asText(),
                        node.path("artifactId").asText(),
                        node.path("version").asText(),
                        node.path("type").asText(),
                        node.path("classifier").asText());
        List<Artifact> children = dependencies.computeIfAbsent(artifact, any -> new ArrayList<>());
        for (JsonNode child : node.path("children")) {
            children.add(add(child, dependencies));
        }
        return artifact;
    }

    /** Returns all artifacts by the name of their jar. */
    Map<String, Artifact> byFile() {
        Map<String, Artifact> files = new TreeMap<>();
        dependencies.keySet().forEach(artifact -> files.put(artifact.file(), artifact));
        return files;
    }
}

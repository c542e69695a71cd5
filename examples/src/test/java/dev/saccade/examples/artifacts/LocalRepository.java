package dev.saccade.examples.artifacts;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A local Maven repository with links to the existing one, and Saccade. */
record LocalRepository(Path folder) {

    /** Avoids temporary folders, whose links would be deleted one by one. */
    static LocalRepository install() throws IOException {
        Path made = Files.createDirectories(Path.of("target", "repository").toAbsolutePath());
        Path local = Path.of(System.getProperty("localRepository")).toRealPath();
        try (Stream<Path> groups = Files.list(local)) {
            for (Path group : groups.filter(group -> !group.endsWith("dev")).toList()) {
                Path link = made.resolve(group.getFileName());
                if (!Files.isDirectory(link)) {
                    Files.deleteIfExists(link);
                    Files.createSymbolicLink(link, group);
                }
            }
        }
        LocalRepository repository = new LocalRepository(made);
        repository.install("saccade", Path.of(".."));
        for (String module : Pom.of(Path.of("..")).texts("/project/modules/module")) {
            repository.install("saccade-" + module, Path.of("..", module));
            Path jar = Built.jar(module).orElse(null);
            if (jar != null) {
                Files.copy(jar, repository.place("saccade-" + module, ".jar"), REPLACE_EXISTING);
            }
        }
        return repository;
    }

    private void install(String artifact, Path module) throws IOException {
        Path pom = place(artifact, ".pom");
        Files.createDirectories(pom.getParent());
        Files.copy(module.resolve("pom.xml"), pom, REPLACE_EXISTING);
    }

    private Path place(String artifact, String ending) {
        String file = artifact + "-" + Built.VERSION + ending;
        return folder.resolve(Path.of("dev", "saccade", artifact, Built.VERSION, file));
    }

    /** Prepares a command of a page with this repository. */
    ProcessBuilder command(Path project, String line) {
        ProcessBuilder command = Built.command(project, "sh", "-c", "exec " + line);
        command.environment().put("MAVEN_OPTS", "-Dmaven.repo.local=" + folder);
        return command;
    }

    /** Runs a command of a page that must succeed; returns its output. */
    String run(Path project, String line) throws IOException, InterruptedException {
        return Built.run(command(project, line));
    }
}

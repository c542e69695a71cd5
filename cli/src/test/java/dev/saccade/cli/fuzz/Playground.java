package dev.saccade.cli.fuzz;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder, the one that the process works in, with a little of everything that commands take. */
final class Playground {

    private static final Path FOLDER = Path.of("").toAbsolutePath();

    private final Map<Path, byte[]> files = new TreeMap<>();

    Playground() {
        String config = ConfigWriter.yaml(ConfigFile.packaged("retinanet/resnet18_fpn_demo.yaml"));
        put("good.yaml", Texts.bytes(config));
        put("bad.yaml", Texts.bytes("model: {backbone: {type: resnet}}\nepochs: many\n"));
        put("a.pth", CheckpointSeeds.written(".pth"));
        put("a.safetensors", CheckpointSeeds.written(".safetensors"));
        put("photo.jpg", ImageSeeds.jpeg().get(0));
        put("data/annotations_train.json", new CocoTarget().seeds().get(1));
        put("data/annotations_val.json", new CocoTarget().seeds().get(0));
    }

    private void put(String name, byte[] content) {
        files.put(FOLDER.resolve(name), content);
    }

    /** Leaves nothing of what a command has written. */
    void tidy() throws IOException {
        for (Path path : content()) {
            byte[] wanted = files.get(path);
            boolean parent = files.keySet().stream().anyMatch(file -> file.startsWith(path));
            boolean changed = wanted != null && !Arrays.equals(wanted, Files.readAllBytes(path));
            if (!parent || changed) {
                Files.delete(path);
            }
        }
        for (Map.Entry<Path, byte[]> file : files.entrySet()) {
            if (!Files.exists(file.getKey())) {
                Files.createDirectories(file.getKey().getParent());
                Files.write(file.getKey(), file.getValue());
            }
        }
    }

    /** Returns what is there, files before their folders. */
    private static List<Path> content() {
        try (Stream<Path> all = Files.walk(FOLDER)) {
            return all.filter(path -> !path.equals(FOLDER))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

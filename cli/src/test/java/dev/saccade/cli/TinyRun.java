package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A narrow detector trained on 8 tiny scenes for an epoch, and its data. */
public record TinyRun(Path run, Path scenes, Path recipe, CommandResult trained) {

    private static TinyRun shared;

    /**
     * Trains one in a folder.
     *
     * @param firstClass the name of the first of its four classes, as JSON has it between quotes
     */
    public static TinyRun in(Path folder, String firstClass) throws IOException {
        Path scenes = folder.resolve("scenes");
        SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 8, 4, n -> {});
        for (String part : List.of("annotations_train.json", "annotations_val.json")) {
            Path file = scenes.resolve(part);
            Files.writeString(file, Files.readString(file).replace("button", firstClass));
        }
        Path recipe = Path.of("..", "configs", "retinanet", "resnet18_fpn_demo.yaml");
        Path run = folder.resolve("run");
        List<Object> args = new ArrayList<>(List.of("train", recipe, "--data", scenes));
        args.addAll(List.of("--set", "model.backbone.base_channels=4"));
        args.addAll(List.of("--set", "model.backbone.stem_channels=4"));
        args.addAll(List.of("--set", "model.neck.out_channels=8"));
        args.addAll(List.of("--set", "model.head.feat_channels=8"));
        args.addAll(List.of("--set", "model.head.nms.score_thr=0.001"));
        args.addAll(List.of("--set", "epochs=1", "--set", "log_interval=1", "--out", run));
        CommandResult trained = saccade(args.toArray());
        assertEquals(0, trained.code(), trained.err());
        return new TinyRun(run, scenes, recipe, trained);
    }

    /** Returns a run that the tests of this JVM share; they must not change it. */
    public static synchronized TinyRun shared() throws IOException {
        if (shared == null) {
            Path folder = Files.createTempDirectory("tiny-run");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
            shared = in(folder, "button");
        }
        return shared;
    }

    private static void delete(Path folder) {
        try {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Copies a scene under another name. */
    public Path photo(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        return Files.copy(scenes.resolve("images").resolve("scene_0001.jpg"), file);
    }
}

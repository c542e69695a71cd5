package dev.saccade.configgen;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.coco.CocoDataset;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class FolderTreeTest {

    @TempDir Path folder;
    private Path root;

    @BeforeEach
    void makeRoot() throws IOException {
        root = Files.createDirectory(folder.resolve("set"));
    }

    private List<String> folders() {
        return FolderTree.folders(root).stream()
                .map(path -> root.relativize(path).toString().replace('\\', '/'))
                .toList();
    }

    @Test
    void linkedFoldersAreListedAndLoopsAreNotFollowed() throws IOException {
        Files.createDirectories(folder.resolve("store/train/a/b"));
        Files.createSymbolicLink(root.resolve("images"), folder.resolve("store"));
        Files.createSymbolicLink(root.resolve("loop"), root);

        assertEquals(List.of("", "images", "images/train", "images/train/a"), folders());
    }

    @Test
    void hiddenFoldersAreLeftOut() throws IOException {
        Files.createDirectories(root.resolve(".cache/images"));
        Files.createDirectories(root.resolve("a/.b"));
        Files.createFile(root.resolve("a/c.json"));

        assertEquals(List.of("", "a"), folders());
    }

    @Test
    void imagesBehindALinkAreFound() throws IOException {
        Path store = Files.createDirectory(folder.resolve("store"));
        Files.createFile(store.resolve("1.jpg"));
        Files.createSymbolicLink(root.resolve("images"), store);
        Files.createSymbolicLink(root.resolve("photos"), store);
        Files.writeString(
                root.resolve("train.json"),
                "{\"images\": [{\"id\": 1, \"file_name\": \"1.jpg\", \"width\": 9, \"height\": 9}],"
                        + " \"annotations\": [], \"categories\": []}");

        LabeledFolder found = LabeledFolder.find(root).orElseThrow();

        assertEquals("images", ((CocoDataset.Config) found.train()).images());
    }
}

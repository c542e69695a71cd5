package dev.saccade.cli;

import com.google.common.io.MoreFiles;

import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;

final class OverwriteOption {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--overwrite",
            description = {"Replace DIR and all its files if this command wrote it before."})
    private boolean overwrite;

    /** Creates the output folder; prints how many files it will replace. */
    OutputFolder create(Path out, List<Path> inputs) {
        OutputFolder folder = OutputFolder.create(out, spec.name(), overwrite, inputs);
        long files = 0;
        if (Files.isDirectory(out)) {
            Iterable<Path> content = MoreFiles.fileTraverser().breadthFirst(out);
            files =
                    StreamSupport.stream(content.spliterator(), false)
                            .filter(Files::isRegularFile)
                            .filter(file -> !file.getFileName().toString().startsWith(".saccade_"))
                            .count();
        }
        if (files > 0) {
            ((BaseCommand) spec.userObject())
                    .printMessage(
                            "%s: %s will be replaced (--overwrite)", out, Count.of(files, "file"));
        }
        return folder;
    }
}

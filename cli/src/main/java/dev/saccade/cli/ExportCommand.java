package dev.saccade.cli;

import dev.saccade.core.Printable;
import dev.saccade.djl.ServingFolder;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Writes what a server needs of a run. */
@Command(
        name = "export",
        description = {
            "Write the folder of a model that DJL Serving loads: its checkpoint and"
                    + " serving.properties.",
            "The server takes Saccade from the folder deps of its home, where the jars of"
                    + " cli/target/saccade/lib belong."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade export runs/demo --out served/demo",
            "          djl-serving -m demo=file:///.../served/demo",
            "          curl -X POST -T photo.jpg http://localhost:8080/predictions/demo"
        })
final class ExportCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            required = true,
            description = "The folder to write, new or empty.")
    private Path out;

    @Override
    public Integer call() {
        ServingFolder.write(run.checkpoint(), out);
        spec.commandLine().getErr().println(Printable.format("%s: written for DJL Serving", out));
        return 0;
    }
}

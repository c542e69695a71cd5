package dev.saccade.cli;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;

/**
 * The {@code saccade} command: every task is a subcommand.
 *
 * <p>Exit codes: 0 done, 2 a mistake of the user, 3 a file or device that could not be read or
 * written, 70 a bug. Progress goes to stderr, results to stdout.
 */
@Command(
        name = "saccade",
        description = "Dense prediction on the JVM: train, evaluate and use detectors.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            DemoCommand.class,
            TrainCommand.class,
            EvalCommand.class,
            PredictCommand.class,
            CheckCommand.class,
            BrowseCommand.class,
            InfoCommand.class,
            BenchCommand.class,
            ConvertCommand.class,
            ExportCommand.class,
            ConfigCommand.class,
            EnvCommand.class
        },
        footer = {
            "",
            "Start with:  ./saccade demo",
            "Then:        ./saccade train configs/retinanet/resnet18_fpn_bccd.yaml --data DIR"
        })
public final class Saccade implements Runnable {

    @Spec private CommandSpec spec;

    /** Runs a command and ends the JVM with its exit code. */
    public static void main(String[] args) {
        System.exit(run(args));
    }

    /** Runs a command and returns its exit code. */
    public static int run(String... args) {
        return new CommandLine(new Saccade())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(Saccade::execute)
                .setExecutionExceptionHandler(Saccade::report)
                .execute(args);
    }

    private static int execute(CommandLine.ParseResult arguments) {
        try {
            return new CommandLine.RunLast().execute(arguments);
        } catch (OutOfMemoryError | LinkageError e) {
            // Errors that are no exceptions pass the handler by.
            CommandLine command = arguments.commandSpec().commandLine();
            throw new CommandLine.ExecutionException(command, e.toString(), e);
        }
    }

    private static int report(
            Exception thrown, CommandLine command, CommandLine.ParseResult arguments) {
        Exception error =
                OutOfMemory.ELSEWHERE.of(thrown).map(Exception.class::cast).orElse(thrown);
        PrintWriter err = command.getErr();
        if (error instanceof SaccadeException known
                && known.kind() != SaccadeException.Kind.INTERNAL) {
            err.println("saccade: " + known.getMessage());
            return known.kind().exitCode();
        }
        err.println("saccade: this is a bug in Saccade; please report it with what follows");
        error.printStackTrace(err);
        return SaccadeException.Kind.INTERNAL.exitCode();
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command?");
    }
}

package dev.saccade.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.Iterables;

import dev.saccade.cli.terminal.StandardOutput;
import dev.saccade.cli.terminal.TerminalStream;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Version;
import dev.saccade.core.components.ComponentFailure;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * The {@code saccade} command.
 *
 * <p>Exit codes: 0 success, 2 user error, 3 I/O or device error or failure of another rank, 70 bug,
 * 130 interrupted. Progress goes to stderr and results to stdout, both in UTF-8.
 */
@Command(
        name = "saccade",
        description =
                "Train, evaluate and run object detectors, segmentation models and image"
                        + " classifiers.",
        subcommands = {
            DemoCommand.class,
            TrainCommand.class,
            ExtendCommand.class,
            EvalCommand.class,
            TuneCommand.class,
            CrossValidateCommand.class,
            ReportCommand.class,
            PredictCommand.class,
            SuggestCommand.class,
            ServeCommand.class,
            CheckCommand.class,
            BrowseCommand.class,
            NewCommand.class,
            ConvertDataCommand.class,
            LabelErrorsCommand.class,
            InfoCommand.class,
            BenchCommand.class,
            WeightsCommand.class,
            ConvertCommand.class,
            QuantizeCommand.class,
            ExportCommand.class,
            ConfigCommand.class,
            EnvCommand.class,
            CommandLine.HelpCommand.class
        },
        footer = {
            "",
            "Start with:  ./saccade demo",
            "Then:        ./saccade new FOLDER, for a folder of labeled images"
        })
public final class Saccade extends BaseCommand {

    public static void main(String[] args) {
        StandardOutput out = new StandardOutput();
        System.setOut(new PrintStream(out, /* autoFlush= */ false, UTF_8));
        int code = run(args);
        System.out.flush();
        if (out.failure().isPresent()) {
            System.err.println(
                    "saccade: standard output cannot be written: " + out.failure().orElseThrow());
            code = SaccadeException.Kind.IO.exitCode();
        }
        System.exit(code);
    }

    /** Runs a command and returns its exit code. */
    public static int run(String... args) {
        return withEscapedOutput(() -> commandLine().execute(args));
    }

    /** Runs a command with control characters escaped in its output; returns its exit code. */
    static int withEscapedOutput(IntSupplier command) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setOut(TerminalStream.wrap(out));
        System.setErr(TerminalStream.wrap(err));
        try {
            return command.getAsInt();
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    /** Returns the parser, which does not expand arguments that start with @. */
    private static CommandLine commandLine() {
        CommandLine root = new CommandLine(new Saccade());
        setVersion(root);
        return root.setOut(new PrintWriter(System.out, /* autoFlush= */ true, UTF_8))
                .setErr(new PrintWriter(System.err, /* autoFlush= */ true, UTF_8))
                .setColorScheme(Help.defaultColorScheme(Help.Ansi.OFF))
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(Saccade::execute)
                .setParameterExceptionHandler(Saccade::report)
                .setExecutionExceptionHandler(Saccade::report);
    }

    private static void setVersion(CommandLine command) {
        command.getCommandSpec().version("saccade " + Version.saccade());
        command.getSubcommands().values().forEach(Saccade::setVersion);
    }

    private static int report(ParameterException mistake, String[] args) {
        UsageError.print(mistake, List.of(args), mistake.getCommandLine().getErr());
        return SaccadeException.Kind.USER.exitCode();
    }

    private static int execute(CommandLine.ParseResult arguments) {
        try {
            rejectAssignments(arguments);
            return new CommandLine.RunLast().execute(arguments);
        } catch (OutOfMemoryError | LinkageError e) {
            // picocli calls its exception handler for an Exception, but not for an Error.
            CommandLine command = arguments.commandSpec().commandLine();
            throw new CommandLine.ExecutionException(command, e.toString(), e);
        }
    }

    /** Rejects assignments such as {@code model=RUN}, which would be read as file names. */
    private static void rejectAssignments(CommandLine.ParseResult arguments) {
        CommandLine last = Iterables.getLast(arguments.asCommandLineList());
        if (!UsageError.optionHints(last.getCommandSpec(), arguments.originalArgs()).isEmpty()) {
            throw new ParameterException(
                    last, "unknown arguments, which look like terms of another toolkit");
        }
    }

    private static int report(
            Exception thrown, CommandLine command, CommandLine.ParseResult arguments) {
        Exception error =
                OutOfMemory.OTHER
                        .of(thrown)
                        .or(() -> ComponentFailure.of(thrown))
                        .map(Exception.class::cast)
                        .orElse(thrown);
        PrintWriter err = command.getErr();
        if (error instanceof SaccadeException known
                && known.kind() != SaccadeException.Kind.INTERNAL) {
            err.println("saccade: " + known.getMessage());
            String options = options(known, command.getCommandSpec());
            if (!options.isEmpty()) {
                err.println("see " + options + " of " + command.getCommandSpec().qualifiedName());
            }
            return known.kind().exitCode();
        }
        err.println(
                "saccade: this is a bug in Saccade; please report it with the"
                        + " following output");
        error.printStackTrace(err);
        return SaccadeException.Kind.INTERNAL.exitCode();
    }

    /** Returns the options of a command that change the settings named by an error. */
    private static String options(SaccadeException error, CommandSpec command) {
        List<String> options =
                error.settings().stream()
                        .map(setting -> "--" + setting)
                        .filter(option -> command.optionsMap().containsKey(option))
                        .toList();
        int last = options.size() - 1;
        return last < 1
                ? String.join("", options)
                : String.join(", ", options.subList(0, last)) + " and " + options.get(last);
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(err());
        return SaccadeException.Kind.USER.exitCode();
    }
}

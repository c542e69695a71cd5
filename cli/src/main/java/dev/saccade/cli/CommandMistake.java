package dev.saccade.cli;

import dev.saccade.config.ForeignWords;
import dev.saccade.core.Printable;

import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tells what is wrong with the words of a command. */
final class CommandMistake {

    private static final Map<Class<?>, String> EXPECTED =
            Map.of(
                    int.class, "an integer",
                    Integer.class, "an integer",
                    long.class, "an integer",
                    Long.class, "an integer",
                    double.class, "a number",
                    Double.class, "a number");

    private CommandMistake() {}

    /**
     * Tells it in a few lines.
     *
     * @param arguments all words of the command
     */
    static void tell(ParameterException mistake, List<String> arguments, PrintWriter err) {
        Optional<String> foreign = foreignCommand(mistake, arguments);
        if (foreign.isPresent()) {
            err.println("saccade: " + Printable.line(foreign.get()));
            err.println("saccade --help tells more");
            return;
        }
        err.println("saccade: " + Printable.line(message(mistake)));
        Optional<String> hint =
                mistake instanceof UnmatchedArgumentException unmatched
                        ? foreign(unmatched)
                        : Optional.empty();
        if (hint.isPresent()) {
            err.println(Printable.line(hint.get()));
        } else {
            UnmatchedArgumentException.printSuggestions(mistake, err);
        }
        String command = mistake.getCommandLine().getCommandSpec().qualifiedName();
        err.println(command + " --help tells more");
    }

    private static String message(ParameterException mistake) {
        ArgSpec argument = mistake.getArgSpec();
        if (argument == null || mistake.getValue() == null) {
            return mistake.getMessage();
        }
        Class<?>[] types = argument.auxiliaryTypes();
        String expected = EXPECTED.get(types[types.length - 1]);
        String name =
                argument instanceof OptionSpec option
                        ? option.longestName()
                        : argument.paramLabel();
        return expected == null
                ? mistake.getMessage()
                : "%s: got %s, expected %s".formatted(name, mistake.getValue(), expected);
    }

    /** Returns what a command of another toolkit is here, if that is what the words begin with. */
    private static Optional<String> foreignCommand(
            ParameterException mistake, List<String> arguments) {
        CommandSpec root = mistake.getCommandLine().getCommandSpec().root();
        return arguments.stream()
                .findFirst()
                .filter(word -> !root.subcommands().containsKey(word))
                .flatMap(
                        word ->
                                ForeignWords.find(ForeignWords.table().commands(), word)
                                        .map(found -> told(word, found, "saccade ", "")));
    }

    /** Returns what an option of another toolkit is here. */
    private static Optional<String> foreign(UnmatchedArgumentException mistake) {
        String first = mistake.getUnmatched().get(0);
        String word = first.replaceFirst("^--?", "").replaceFirst("=.*", "");
        CommandSpec here = mistake.getCommandLine().getCommandSpec();
        return ForeignWords.find(ForeignWords.table().options(), word)
                .map(found -> told(word, found, "", commands(found.ours(), here)));
    }

    private static String told(String word, ForeignWords.Word found, String before, String behind) {
        String note = found.note().isEmpty() ? "" : ": " + found.note();
        String ours = before + found.ours();
        return found.ours().isEmpty()
                ? word + note
                : "%s is %s in Saccade%s%s".formatted(word, ours, behind, note);
    }

    /** Returns which commands have an option, where that at hand has it not. */
    private static String commands(String option, CommandSpec here) {
        String name = option.replaceFirst(" .*", "");
        if (!name.startsWith("--") || here.findOption(name) != null) {
            return "";
        }
        List<CommandLine> all = List.copyOf(here.root().subcommands().values());
        String having =
                all.stream()
                        .map(CommandLine::getCommandSpec)
                        .filter(command -> command.findOption(name) != null)
                        .map(CommandSpec::name)
                        .collect(Collectors.joining(", "));
        return having.isEmpty() ? "" : ", an option of " + having;
    }
}

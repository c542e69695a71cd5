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

    static void tell(ParameterException mistake, PrintWriter err) {
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

    /** Returns what a word of another toolkit is here. */
    private static Optional<String> foreign(UnmatchedArgumentException mistake) {
        String first = mistake.getUnmatched().get(0);
        String word = first.replaceFirst("^--?", "").replaceFirst("=.*", "");
        CommandSpec here = mistake.getCommandLine().getCommandSpec();
        ForeignWords table = ForeignWords.table();
        boolean isCommand = here.parent() == null && !first.startsWith("-");
        return ForeignWords.find(isCommand ? table.commands() : table.options(), word)
                .map(found -> told(word, found, isCommand, here));
    }

    private static String told(
            String word, ForeignWords.Word found, boolean isCommand, CommandSpec here) {
        String note = found.note().isEmpty() ? "" : ": " + found.note();
        if (found.ours().isEmpty()) {
            return word + note;
        }
        String ours = isCommand ? "saccade " + found.ours() : found.ours();
        return "%s is %s in Saccade%s%s"
                .formatted(word, ours, isCommand ? "" : commands(found.ours(), here), note);
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

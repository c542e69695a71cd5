package dev.saccade.cli;

import com.google.common.collect.Iterables;

import dev.saccade.config.ForeignWords;
import dev.saccade.config.ForeignWords.Word;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reports mistaken arguments. */
final class CommandMistake {

    private static final Map<Class<?>, String> EXPECTED =
            Map.of(
                    int.class, "an integer",
                    Integer.class, "an integer",
                    long.class, "an integer",
                    Long.class, "an integer",
                    double.class, "a number",
                    Double.class, "a number");

    private static final Pattern KEY_OF_DETECTRON2 = Pattern.compile("[A-Z_]+(\\.[A-Z0-9_]+)+");

    private CommandMistake() {}

    /** Prints a mistake with hints. */
    static void print(ParameterException mistake, List<String> arguments, PrintWriter err) {
        CommandSpec here = mistake.getCommandLine().getCommandSpec();
        Optional<String> foreign = foreignCommand(here.root(), arguments);
        if (foreign.isPresent()) {
            err.println("saccade: " + Printable.line(foreign.get()));
            err.println("saccade --help tells more");
            return;
        }
        err.println("saccade: " + Printable.line(message(mistake)));
        List<String> hints = foreignOptions(here, arguments);
        hints.forEach(hint -> err.println(Printable.line(hint)));
        if (hints.isEmpty()) {
            UnmatchedArgumentException.printSuggestions(mistake, err);
        }
        err.println(here.qualifiedName() + " --help tells more");
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
                : Text.format("%s: got %s, expected %s", name, mistake.getValue(), expected);
    }

    /** Returns a hint if the arguments begin with a command of another toolkit. */
    private static Optional<String> foreignCommand(CommandSpec root, List<String> arguments) {
        Set<String> ours = root.subcommands().keySet();
        List<Word> table = ForeignWords.table().commands();
        List<String> leading =
                arguments.stream()
                        .takeWhile(
                                word ->
                                        ours.contains(word)
                                                || ForeignWords.find(table, word).isPresent())
                        .toList();
        if (leading.isEmpty() || ours.contains(leading.get(0))) {
            return Optional.empty();
        }
        // The last word of "yolo detect train" is the task.
        String last = Iterables.getLast(leading);
        String typed = String.join(" ", leading);
        return Optional.of(
                ours.contains(last)
                        ? Text.format("%s is saccade %s in Saccade", typed, last)
                        : hint(
                                typed,
                                ForeignWords.find(table, last).orElseThrow(),
                                "saccade ",
                                ""));
    }

    /** Returns hints about options of other toolkits, including {@code key=value}. */
    static List<String> foreignOptions(CommandSpec here, List<String> arguments) {
        List<String> hints = new ArrayList<>();
        boolean isValue = false;
        for (String argument : arguments) {
            boolean isOption = argument.startsWith("-");
            boolean isAssigned = argument.contains("=");
            String name = argument.replaceFirst("=.*", "");
            OptionSpec known = here.optionsMap().get(name);
            if (known == null && (isOption || (isAssigned && !isValue))) {
                ForeignWords.find(ForeignWords.table().options(), name.replaceFirst("^--?", ""))
                        .map(word -> hint(name, word, "", owners(word.ours(), here)))
                        .ifPresent(hints::add);
                if (here.optionsMap().containsKey("--" + name)) {
                    hints.add(
                            Text.format(
                                    "%s is --%s in Saccade", argument, argument.replace('=', ' ')));
                }
            } else if (!isValue && KEY_OF_DETECTRON2.matcher(argument).matches()) {
                ForeignWords.find(ForeignWords.table().keys(), argument)
                        .map(word -> hint(argument, word, "--set ", ""))
                        .ifPresent(hints::add);
            }
            isValue = isOption && !isAssigned && (known == null || known.arity().max() > 0);
        }
        return hints;
    }

    private static String hint(String typed, Word word, String before, String after) {
        String note = word.note().isEmpty() ? "" : ": " + word.note();
        return word.ours().isEmpty()
                ? typed + note
                : Text.format("%s is %s in Saccade%s%s", typed, before + word.ours(), after, note);
    }

    /** Lists the commands with an option that the current command does not have. */
    private static String owners(String option, CommandSpec here) {
        String name = option.replaceFirst(" .*", "");
        if (!name.startsWith("--") || here.findOption(name) != null) {
            return "";
        }
        String owners =
                here.root().subcommands().values().stream()
                        .map(CommandLine::getCommandSpec)
                        .filter(command -> command.findOption(name) != null)
                        .map(CommandSpec::name)
                        .distinct()
                        .collect(Collectors.joining(", "));
        return owners.isEmpty() ? "" : ", an option of " + owners;
    }
}

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

    private static final Pattern KEY_OF_DETECTRON2 = Pattern.compile("[A-Z_]+(\\.[A-Z0-9_]+)+");

    private CommandMistake() {}

    /**
     * Tells it in a few lines.
     *
     * @param arguments all words of the command
     */
    static void tell(ParameterException mistake, List<String> arguments, PrintWriter err) {
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

    /** Returns what a command of another toolkit is here, if the words begin with one. */
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
        // Of "yolo detect train" the last says what is to be done.
        String last = Iterables.getLast(leading);
        String typed = String.join(" ", leading);
        return Optional.of(
                ours.contains(last)
                        ? Text.format("%s is saccade %s in Saccade", typed, last)
                        : told(
                                typed,
                                ForeignWords.find(table, last).orElseThrow(),
                                "saccade ",
                                ""));
    }

    /**
     * Returns what options of other toolkits are here, those written as {@code key=value} too.
     *
     * @param here the command that they were given to
     * @param arguments all words of the command
     */
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
                        .map(found -> told(name, found, "", commands(found.ours(), here)))
                        .ifPresent(hints::add);
                if (here.optionsMap().containsKey("--" + name)) {
                    hints.add(
                            Text.format(
                                    "%s is --%s in Saccade", argument, argument.replace('=', ' ')));
                }
            } else if (!isValue && KEY_OF_DETECTRON2.matcher(argument).matches()) {
                ForeignWords.find(ForeignWords.table().keys(), argument)
                        .map(found -> told(argument, found, "--set ", ""))
                        .ifPresent(hints::add);
            }
            isValue = isOption && !isAssigned && (known == null || known.arity().max() > 0);
        }
        return hints;
    }

    private static String told(String word, Word found, String before, String behind) {
        String note = found.note().isEmpty() ? "" : ": " + found.note();
        String ours = before + found.ours();
        return found.ours().isEmpty()
                ? word + note
                : Text.format("%s is %s in Saccade%s%s", word, ours, behind, note);
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

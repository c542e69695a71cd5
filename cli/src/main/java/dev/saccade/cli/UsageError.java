package dev.saccade.cli;

import com.google.common.base.Ascii;
import com.google.common.base.Joiner;
import com.google.common.collect.Iterables;
import com.google.common.primitives.Primitives;

import dev.saccade.config.ToolkitTerms;
import dev.saccade.config.ToolkitTerms.Term;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints errors in arguments, with hints for terms of other toolkits. */
final class UsageError {

    private UsageError() {}

    static void print(ParameterException mistake, List<String> arguments, PrintWriter err) {
        CommandSpec here = mistake.getCommandLine().getCommandSpec();
        Optional<String> command = commandHint(here.root(), arguments);
        err.println("saccade: " + Printable.line(command.orElseGet(() -> message(mistake))));
        if (command.isEmpty()) {
            List<String> hints = optionHints(here, arguments);
            hints.forEach(hint -> err.println(Printable.line(hint)));
            if (hints.isEmpty()) {
                UnmatchedArgumentException.printSuggestions(mistake, err);
            }
        }
        CommandSpec helpful = command.isPresent() ? here.root() : here;
        err.println(helpful.qualifiedName() + " --help shows all options");
    }

    private static String message(ParameterException mistake) {
        if (mistake.getArgSpec() instanceof OptionSpec option && mistake.getValue() != null) {
            Class<?> type = Primitives.unwrap(Iterables.getLast(List.of(option.auxiliaryTypes())));
            String expected = expected(type);
            if (!expected.isEmpty()) {
                return Text.format(
                        "%s: got %s, expected %s",
                        option.longestName(), mistake.getValue(), expected);
            }
        }
        return mistake.getMessage();
    }

    private static String expected(Class<?> type) {
        if (type.isEnum()) {
            return Ascii.toLowerCase("one of " + Joiner.on(", ").join(type.getEnumConstants()));
        } else if (type == double.class) {
            return "a number";
        }
        return type == int.class || type == long.class ? "an integer" : "";
    }

    /** Returns a hint for a command of another toolkit, such as "yolo detect train". */
    private static Optional<String> commandHint(CommandSpec root, List<String> arguments) {
        Set<String> ours = root.subcommands().keySet();
        List<Term> terms = ToolkitTerms.ALL.commands();
        List<String> words =
                arguments.stream()
                        .takeWhile(w -> ours.contains(w) || ToolkitTerms.find(terms, w).isPresent())
                        .toList();
        if (words.isEmpty() || ours.contains(words.get(0))) {
            return Optional.empty();
        }
        String last = Iterables.getLast(words);
        String typed = String.join(" ", words);
        return ToolkitTerms.find(terms, last)
                .map(term -> hint(typed, "saccade " + term.saccade(), "", term))
                .or(() -> Optional.of(Text.format("%s is saccade %s in Saccade", typed, last)));
    }

    /** Returns hints for options and keys of other toolkits, including {@code key=value}. */
    static List<String> optionHints(CommandSpec here, List<String> arguments) {
        List<String> hints = new ArrayList<>();
        boolean isValue = false;
        for (String argument : arguments) {
            boolean isOption = argument.startsWith("-");
            String name = argument.replaceFirst("=.*", "");
            OptionSpec known = here.optionsMap().get(name);
            if (known == null && (isOption || !isValue)) {
                hints(here, argument, name).forEach(hints::add);
            }
            isValue =
                    isOption && name.equals(argument) && (known == null || known.arity().max() > 0);
        }
        return hints;
    }

    private static Stream<String> hints(CommandSpec here, String argument, String name) {
        if (!argument.startsWith("-") && name.equals(argument)) {
            // Words without a dot are values or commands, not settings of other toolkits.
            return Stream.of(argument)
                    .filter(key -> key.contains("."))
                    .flatMap(key -> ToolkitTerms.find(ToolkitTerms.ALL.keys(), key).stream())
                    .map(term -> hint(argument, "--set " + term.saccade(), "", term));
        }
        ToolkitTerms all = ToolkitTerms.ALL;
        Optional<String> option =
                ToolkitTerms.find(all.options(), name.replaceFirst("^--?", ""))
                        .map(
                                term ->
                                        hint(
                                                name,
                                                term.saccade(),
                                                owners(term.saccade(), here),
                                                term));
        String ours = Text.format("%s is --%s in Saccade", argument, argument.replace('=', ' '));
        return Stream.concat(
                option.stream(),
                Stream.of(ours).filter(hint -> here.optionsMap().containsKey("--" + name)));
    }

    private static String hint(String typed, String ours, String owners, Term term) {
        String note = term.note().isEmpty() ? "" : ": " + term.note();
        return term.saccade().isEmpty()
                ? typed + note
                : Text.format("%s is %s in Saccade%s%s", typed, ours, owners, note);
    }

    /** Returns a phrase with the commands that have an option; empty if this command has it. */
    private static String owners(String option, CommandSpec here) {
        String name = option.replaceFirst(" .*", "");
        if (!name.startsWith("--") || here.findOption(name) != null) {
            return "";
        }
        String owners =
                here.root().subcommands().values().stream()
                        .map(command -> command.getCommandSpec())
                        .filter(command -> command.findOption(name) != null)
                        .map(CommandSpec::name)
                        .distinct()
                        .collect(Collectors.joining(", "));
        return owners.isEmpty() ? "" : ", an option of " + owners;
    }
}

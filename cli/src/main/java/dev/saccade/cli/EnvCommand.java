package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.Text;
import dev.saccade.report.runs.Environment;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.Map;
import java.util.stream.Collectors;

@Command(
        name = "env",
        description =
                "Print the versions of Saccade and its libraries, and the properties of this"
                        + " machine.",
        footer = {"", "Example:  saccade env --json"})
final class EnvCommand extends BaseCommand {

    /** Separator that aligns the elements of a list below the first. */
    private static final String NEXT_LINE = "\n" + " ".repeat(13);

    @Mixin private JsonOption json;

    @Override
    public Integer call() {
        json.print(spec, Environment.facts(), EnvCommand::text);
        return 0;
    }

    static String text(Map<String, Object> facts) {
        return facts.entrySet().stream()
                .map(
                        fact ->
                                Text.format(
                                        "%-12s %s",
                                        fact.getKey(),
                                        Environment.text(fact.getValue(), NEXT_LINE)))
                .collect(Collectors.joining("\n"));
    }
}

package dev.saccade.cli.terminal;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.ObjectStatistics;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.util.function.Function;

/** The option of commands whose result a machine may read. */
public final class JsonOption {

    private static final ObjectMapper MAPPER =
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .addMixIn(ObjectStatistics.class, CountsBesideOthers.class);

    /** In JSON, the numbers of objects stand beside those of photographs. */
    interface CountsBesideOthers {
        @JsonUnwrapped
        ObjectStatistics.Counts objects();
    }

    @Option(names = "--json", description = "Print the result as JSON on stdout.")
    private boolean wanted;

    public boolean wanted() {
        return wanted;
    }

    /** Prints a result as JSON if the option is given, else its {@code toString}. */
    public void print(CommandSpec spec, Object result) {
        print(spec, result, Object::toString);
    }

    /** Prints a result as JSON if the option is given, else formatted. */
    public <T> void print(CommandSpec spec, T result, Function<T, String> format) {
        spec.commandLine().getOut().println(wanted ? text(result) : format.apply(result));
    }

    /** Returns a result as JSON. */
    public static String text(Object result) {
        try {
            return MAPPER.writeValueAsString(result);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "this result cannot be written as JSON");
        }
    }
}

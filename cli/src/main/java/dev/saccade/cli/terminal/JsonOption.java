package dev.saccade.cli.terminal;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.ObjectStatistics;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.util.function.Function;

public final class JsonOption {

    private static final ObjectMapper MAPPER =
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .addMixIn(ObjectStatistics.class, CountsBesideOthers.class);

    /** Mix-in that writes object counts next to image counts, without nesting. */
    interface CountsBesideOthers {
        @JsonUnwrapped
        ObjectStatistics.Counts objects();
    }

    @Option(names = "--json", description = "Print the result as JSON to stdout.")
    private boolean enabled;

    public boolean isSet() {
        return enabled;
    }

    public void print(CommandSpec spec, Object result) {
        print(spec, result, Object::toString);
    }

    /** Prints a result as JSON if the option is set, else formatted. */
    public <T> void print(CommandSpec spec, T result, Function<T, String> format) {
        spec.commandLine().getOut().println(enabled ? text(result) : format.apply(result));
    }

    public static String text(Object result) {
        try {
            return MAPPER.writeValueAsString(result);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "this result cannot be written as JSON");
        }
    }
}

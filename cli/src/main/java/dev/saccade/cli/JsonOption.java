package dev.saccade.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import dev.saccade.core.SaccadeException;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The option of commands whose result a machine may read. */
final class JsonOption {

    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    @Option(names = "--json", description = "Print the result as JSON on stdout.")
    private boolean wanted;

    boolean wanted() {
        return wanted;
    }

    void print(CommandSpec spec, Object result) {
        try {
            spec.commandLine().getOut().println(MAPPER.writeValueAsString(result));
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "this result cannot be written as JSON");
        }
    }

    /** Writes a result as a JSON file, in a folder that is made if need be. */
    static void write(Path file, Object result) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            MAPPER.writeValue(file.toFile(), result);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }
}

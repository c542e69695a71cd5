package dev.saccade.core;

import com.google.common.collect.ImmutableList;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;

/** Command lines of further processes of this Java program. */
public final class ThisProgram {

    private ThisProgram() {}

    /**
     * Returns a command with the Java, Java options and class path of this process, without debug
     * agents, whose ports are in use.
     *
     * @param options additional Java options
     */
    public static List<String> command(
            Class<?> main, List<String> options, List<String> arguments) {
        String java =
                ProcessHandle.current()
                        .info()
                        .command()
                        .orElse(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        return ImmutableList.<String>builder()
                .add(java)
                .addAll(
                        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                                .filter(option -> !option.startsWith("-agentlib"))
                                .toList())
                .addAll(options)
                .add("-cp", System.getProperty("java.class.path"))
                .add(main.getName())
                .addAll(arguments)
                .build();
    }
}

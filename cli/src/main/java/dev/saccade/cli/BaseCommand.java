package dev.saccade.cli;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.Printable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

/** Base class of all commands, with {@code --help} and {@code --version}. */
@Command(mixinStandardHelpOptions = true)
abstract class BaseCommand implements Callable<Integer> {

    @Spec CommandSpec spec;

    /** Returns standard output, for results. */
    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** Returns standard error, for progress and messages. */
    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    @FormatMethod
    final void printMessage(@FormatString String format, Object... args) {
        err().println(Printable.format(format, args));
    }
}

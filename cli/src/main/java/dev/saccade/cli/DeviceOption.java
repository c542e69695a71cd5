package dev.saccade.cli;

import ai.djl.Device;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;

import picocli.CommandLine.Option;

import java.util.Optional;

/** The option of commands that run a model. */
final class DeviceOption {

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "What computes: auto (the first GPU, else the CPU), cpu, cuda, or cuda:1 for the"
                            + " second GPU; by default what the config says, else auto.")
    private Optional<String> name = Optional.empty();

    /** Returns the name of the device, if one is given. */
    private Optional<String> name() {
        name.filter(text -> !Devices.isName(text))
                .ifPresent(
                        text -> {
                            throw SaccadeException.user(
                                    "--device: got %s, expected %s", text, Devices.EXPECTED);
                        });
        return name;
    }

    /** Returns the device, which is looked for by itself where none is given. */
    Device choose() {
        return Devices.here().choose(name().orElse(Devices.AUTO));
    }

    /** Returns the override of a config that sets the device, if one is given. */
    Optional<String> override() {
        return name().map(text -> "device=" + text);
    }
}

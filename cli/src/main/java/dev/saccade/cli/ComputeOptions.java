package dev.saccade.cli;

import ai.djl.Device;

import dev.saccade.config.ToolkitTerms;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Precision;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Option;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The options of commands that run a model: what computes, and in what precision. */
final class ComputeOptions {

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "What computes: auto (the first GPU, else the CPU), cpu, cuda, or cuda:1 for"
                            + " the second GPU; by default what the config says, else auto.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = "--precision",
            paramLabel = "TYPE",
            description =
                    "What is computed in: float32, bfloat16 or float16; by default what the config"
                            + " or the checkpoint says.")
    private Optional<String> precision = Optional.empty();

    /** Returns the name of the device, if one is given. */
    private Optional<String> device() {
        device.filter(text -> !Devices.isName(text))
                .ifPresent(
                        text -> {
                            String meant =
                                    text.matches("\\d+") ? "; did you mean cuda:" + text + "?" : "";
                            throw SaccadeException.user(
                                    "--device: got %s, expected %s%s",
                                    text, Devices.EXPECTED, meant);
                        });
        return device;
    }

    private Optional<Precision> precision() {
        return precision.map(ComputeOptions::precision);
    }

    /** Returns the precision of a name that was given. */
    static Precision precision(String text) {
        return Stream.of(Precision.values())
                .filter(each -> name(each).equals(text))
                .findFirst()
                .orElseThrow(
                        () ->
                                SaccadeException.user(
                                        "--precision: got %s, expected float32, bfloat16 or"
                                                + " float16%s",
                                        text,
                                        ToolkitTerms.hintForValue(
                                                text,
                                                Stream.of(Precision.values())
                                                        .map(ComputeOptions::name)
                                                        .toList())));
    }

    static String name(Precision precision) {
        return precision.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the device of this rank, which is looked for by itself where none is given. */
    Device chooseDevice() {
        return ProcessGroup.current().device(device().orElse(Devices.AUTO));
    }

    /** Returns the overrides of a config for what is given. */
    List<String> overrides() {
        return Stream.concat(
                        device().map(text -> "device=" + text).stream(),
                        precision().map(given -> "precision=" + name(given)).stream())
                .toList();
    }

    /** Adds the overrides to a config. */
    ConfigArguments addTo(ConfigArguments config) {
        overrides().forEach(config::override);
        return config;
    }

    /** Returns a model that computes as is given, else as it was trained. */
    TrainedModel<?> applyTo(TrainedModel<?> model) {
        try {
            return precision().<TrainedModel<?>>map(model::withPrecision).orElse(model);
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }
}

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

/** Options of commands that run a model. */
final class ComputeOptions {

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "Compute on auto (the first GPU, else the CPU), cpu, cuda, or"
                            + " cuda:1 for the second GPU. Default: auto for a trained model, else"
                            + " device in the config.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = "--precision",
            paramLabel = "TYPE",
            description =
                    "Compute in float32, bfloat16 or float16. Default: precision in"
                            + " the config or checkpoint.")
    private Optional<String> precision = Optional.empty();

    private Optional<String> device() {
        device.filter(text -> !Devices.isName(text))
                .ifPresent(
                        text -> {
                            String hint =
                                    text.matches("\\d+") ? "; did you mean cuda:" + text + "?" : "";
                            throw SaccadeException.user(
                                    "--device: got %s, expected %s%s",
                                    text, Devices.EXPECTED, hint);
                        });
        return device;
    }

    private Optional<Precision> precision() {
        return precision.map(ComputeOptions::precision);
    }

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

    /** Returns the device of this rank. */
    Device chooseDevice() {
        return ProcessGroup.current().device(device().orElse(Devices.AUTO));
    }

    /** Returns {@code key=value} config overrides for the chosen device and precision. */
    List<String> overrides() {
        return Stream.concat(
                        device().map(text -> "device=" + text).stream(),
                        precision().map(given -> "precision=" + name(given)).stream())
                .toList();
    }

    ConfigArguments addTo(ConfigArguments config) {
        overrides().forEach(config::override);
        if (device.isEmpty() && config.checkpoint().isPresent()) {
            config.override("device=" + Devices.AUTO);
        }
        return config;
    }

    /** Returns the model in the chosen precision; default: its training precision. */
    TrainedModel<?> applyTo(TrainedModel<?> model) {
        try {
            return precision().<TrainedModel<?>>map(model::withPrecision).orElse(model);
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }
}

package dev.saccade.cli;

import com.google.common.base.Ascii;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.djl.ServingFolder;
import dev.saccade.export.ExportFormat;
import dev.saccade.export.ProgramExport;
import dev.saccade.export.WeightsExport;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Writes a trained model for programs without Saccade, or for DJL Serving. */
@Command(
        name = "export",
        description = {
            "Write a trained model for other programs: for those without Saccade as TorchScript"
                    + " (libtorch, DJL, Python) or ONNX (ONNX Runtime, TensorRT), with the selection"
                    + " of objects in it and a JSON that says how photographs are prepared; what"
                    + " was written is held against the model on photographs of the run.",
            "Or as weights alone (safetensors), or the folder of a model that DJL Serving loads;"
                    + " the server takes Saccade from the folder deps of its home, where the jars"
                    + " of cli/target/saccade/lib belong."
        },
        footer = {
            "",
            "Example:  saccade export runs/demo --format onnx",
            "          saccade export runs/demo --format torchscript --size 480x640",
            "          saccade export runs/demo --format djl-serving --out served/demo"
        })
final class ExportCommand extends BaseCommand {

    /** Output formats. */
    enum Format {
        TORCHSCRIPT,
        ONNX,
        DJL_SERVING,
        SAFETENSORS;

        private boolean isProgram() {
            return this == TORCHSCRIPT || this == ONNX;
        }

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return Ascii.toLowerCase(name()).replace('_', '-');
        }
    }

    /** Enough images to compare a metric. */
    private static final int PHOTOS = 50;

    @Mixin private RunArgument run;
    @Mixin private DataOption data;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "djl-serving",
            description =
                    "torchscript, onnx, safetensors or djl-serving; ${DEFAULT-VALUE} by default.")
    private Format format;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "The folder to write, new or empty; exports/NAME-FORMAT by default.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--size",
            paramLabel = "HxW",
            description = "Support only this height and width, including padding.")
    private Optional<String> size = Optional.empty();

    @Option(
            names = "--dynamic",
            description = "Support images of any size (default without --size).")
    private boolean dynamic;

    @Option(
            names = "--normalize",
            description =
                    "Make normalization part of the model, and of detectors the padding: it takes"
                            + " RGB pixels of 0 to 255.")
    private boolean normalize;

    @Option(
            names = "--precision",
            paramLabel = "TYPE",
            description =
                    "What is computed in: float32, float16, or bfloat16 with torchscript; of"
                            + " safetensors what the weights are stored in. float32 by default.")
    private Optional<String> precision = Optional.empty();

    @Option(
            names = "--opset",
            paramLabel = "N",
            description = "The version of ONNX's operators, 17 to 21; 17 by default.")
    private Optional<Integer> opset = Optional.empty();

    @Option(
            names = "--photos",
            paramLabel = "N",
            description =
                    "Compare on the first N images of the run's data.val; 50 by default. 0: on"
                            + " random images only, for a checkpoint without a run.")
    private Optional<Integer> photos = Optional.empty();

    @Override
    public Integer call() {
        requireFittingOptions();
        Precision computed = precision.map(ComputeOptions::precision).orElse(Precision.FLOAT32);
        Path checkpoint = run.checkpoint();
        Path folder = out.orElseGet(() -> Path.of("exports", run.stem() + "-" + format));
        requireNew(folder);
        switch (format) {
            case DJL_SERVING -> ServingFolder.write(checkpoint, folder);
            case SAFETENSORS -> WeightsExport.write(checkpoint, folder, computed);
            default -> program(computed).write(checkpoint, folder);
        }
        say("%s: written for %s", folder, format);
        return 0;
    }

    private ProgramExport program(Precision computed) {
        int count = photos.orElse(run.hasConfig() || data.root().isPresent() ? PHOTOS : 0);
        Optional<RunConfig> config =
                count == 0 ? Optional.empty() : Optional.of(run.config(data.root()));
        return new ProgramExport(
                format == Format.ONNX ? ExportFormat.ONNX : ExportFormat.TORCHSCRIPT,
                size.map(InputOptions::size),
                normalize,
                computed,
                opset,
                config.map(DataReports::validationSet)
                        .map(dataset -> new ProgramExport.Images(dataset, count)),
                config.map(run -> run.data().workers()).orElse(1),
                Progress::new,
                out());
    }

    private void requireFittingOptions() {
        Problems problems = new Problems();
        if (dynamic && size.isPresent()) {
            problems.add("--dynamic and --size: expected one of them");
        }
        photos.filter(number -> number < 0)
                .ifPresent(number -> problems.add("--photos: got %d, expected 0 or more", number));
        List<String> ofPrograms =
                List.of("--size", "--dynamic", "--normalize", "--photos", "--data");
        if (!format.isProgram()) {
            ofPrograms.stream()
                    .filter(this::isGiven)
                    .forEach(option -> problems.add("%s means nothing for %s", option, format));
        }
        if (opset.isPresent() && format != Format.ONNX) {
            problems.add("--opset means nothing for %s", format);
        }
        if (precision.isPresent() && format == Format.DJL_SERVING) {
            problems.add("--precision means nothing for %s", format);
        }
        problems.throwIfAny("export");
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    /** Rejects a non-empty folder; its files may be in use. */
    private static void requireNew(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            if (files.findAny().isPresent()) {
                throw SaccadeException.user("%s: not empty; choose a new or empty folder", folder)
                        .withSettings("out");
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: is no folder that can be written to", folder);
        }
    }
}

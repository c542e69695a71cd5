package dev.saccade.cli;

import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Dataset;
import dev.saccade.djl.ServingFolder;
import dev.saccade.eval.LayerSelection;
import dev.saccade.eval.RecordedMetric;
import dev.saccade.export.ExportFormat;
import dev.saccade.export.ProgramExport;
import dev.saccade.export.WeightsExport;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

@Command(
        name = "export",
        description = {
            "Export a trained model as TorchScript, ONNX or safetensors, or for DJL Serving.",
            "TorchScript (libtorch, DJL, Python) and ONNX (ONNX Runtime, TensorRT)"
                    + " include postprocessing; model.json describes preprocessing. The exported"
                    + " model is compared with the original on validation images.",
            "safetensors contains the weights only. djl-serving is a folder for DJL"
                    + " Serving; copy the jars in cli/target/saccade/lib to the deps folder in the"
                    + " server's home directory."
        },
        footer = {
            "",
            "Example:  saccade export runs/demo --format onnx",
            "          saccade export runs/demo --format torchscript --size 480x640",
            "          saccade export runs/demo --format djl-serving --out served/demo"
        })
final class ExportCommand extends BaseCommand {

    enum Format {
        TORCHSCRIPT,
        ONNX,
        DJL_SERVING,
        SAFETENSORS;

        private boolean isProgram() {
            return this == TORCHSCRIPT || this == ONNX;
        }

        @Override
        public String toString() {
            return Ascii.toLowerCase(name()).replace('_', '-');
        }
    }

    /** Default number of images to compare metrics on. */
    private static final int IMAGES = 50;

    @Mixin private RunArgument run;
    @Mixin private DataOption data;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "djl-serving",
            description =
                    "Select the format: torchscript, onnx, safetensors or djl-serving."
                            + " Default: ${DEFAULT-VALUE}.")
    private Format format;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "Write to this folder, which must be new or empty. Default:"
                            + " exports/RUN-FORMAT, or exports/RUN-CHECKPOINT-FORMAT for a"
                            + " checkpoint of a run.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--size",
            paramLabel = "HxW",
            description =
                    "Accept only inputs of this height and width in pixels, including padding.")
    private Optional<String> size = Optional.empty();

    @Option(
            names = "--dynamic",
            description = "Accept images of any size. This is the default without --size.")
    private boolean dynamic;

    @Option(
            names = "--normalize",
            description =
                    "Include normalization and, for detectors, padding in the model:"
                            + " its input is RGB from 0 to 255.")
    private boolean normalize;

    @Option(
            names = "--precision",
            paramLabel = "TYPE",
            description =
                    "Compute in float32, float16 or, with torchscript, bfloat16. Also"
                            + " sets the data type of safetensors. Default: float32.")
    private Optional<String> precision = Optional.empty();

    @Option(
            names = "--opset",
            paramLabel = "N",
            description = "Set the ONNX opset version, 17 to 21. Default: 17.")
    private Optional<Integer> opset = Optional.empty();

    @Option(
            names = "--images",
            paramLabel = "N",
            description =
                    "Compare the models on N validation images, evenly spread. 0 uses random"
                            + " images only and needs no data set. Default: 50, or 0 without a"
                            + " run. To export a quantized checkpoint to ONNX: calibrate on N"
                            + " training images, and compare on all validation images. Default: "
                            + LayerSelection.IMAGES
                            + ".")
    private Optional<Integer> images = Optional.empty();

    @Option(
            names = "--max-drop",
            paramLabel = "DROP",
            defaultValue = "" + LayerSelection.MAX_DROP,
            description =
                    "To export a quantized checkpoint to ONNX: allow AP, mask AP, mIoU and top-1"
                            + " (0 to 1) to drop by at most DROP on the validation set. Default:"
                            + " ${DEFAULT-VALUE}.")
    private double maxDrop;

    @Override
    public Integer call() {
        requireFittingOptions();
        Precision computed = precision.map(ComputeOptions::precision).orElse(Precision.FLOAT32);
        Path checkpoint = run.checkpoint();
        Path folder = out.orElseGet(() -> Path.of("exports", run.exportName() + "-" + format));
        requireNew(folder);
        int code = StopSignal.runHalting(() -> write(checkpoint, folder, computed));
        printMessage("%s: exported as %s", folder, format);
        return code;
    }

    private int write(Path checkpoint, Path folder, Precision computed) {
        switch (format) {
            case DJL_SERVING -> ServingFolder.write(checkpoint, folder);
            case SAFETENSORS -> WeightsExport.write(checkpoint, folder, computed);
            default -> program(computed, checkpoint).write(checkpoint, folder);
        }
        return 0;
    }

    private ProgramExport program(Precision computed, Path checkpoint) {
        Map<String, String> metadata = Checkpoints.open(checkpoint).metadata();
        boolean calibrates =
                format == Format.ONNX
                        && !ModelSpec.fromMetadata(metadata, checkpoint.toString())
                                .quantizedLayers()
                                .isEmpty();
        if (calibrates) {
            requireCalibration(computed, checkpoint);
        } else if (isGiven("--max-drop")) {
            throw SaccadeException.user(
                    "%s: --max-drop has an effect only for quantized checkpoints as ONNX; remove it",
                    checkpoint);
        }
        int compared = images.orElse(run.hasConfig() || data.root().isPresent() ? IMAGES : 0);
        Optional<RunConfig> config =
                compared == 0 ? Optional.empty() : Optional.of(run.config(data.root()));
        return new ProgramExport(
                format == Format.ONNX ? ExportFormat.ONNX : ExportFormat.TORCHSCRIPT,
                size.map(InputOptions::size),
                normalize,
                computed,
                opset,
                config.map(DataReports::validationSet)
                        .map(
                                val ->
                                        new ProgramExport.Images(
                                                val, calibrates ? val.size() : compared)),
                config.filter(run -> calibrates).map(run -> calibration(run, metadata)),
                config.map(run -> run.data().workers()).orElse(1),
                Progress::new,
                out());
    }

    private ProgramExport.Calibration calibration(RunConfig config, Map<String, String> metadata) {
        Dataset train = DataReports.trainingSet(config, "calibration");
        return new ProgramExport.Calibration(
                new ProgramExport.Images(train, images.orElse(LayerSelection.IMAGES)),
                new LayerSelection(maxDrop),
                RecordedMetric.of(config.monitor(), metadata));
    }

    private void requireCalibration(Precision computed, Path checkpoint) {
        Problems problems = new Problems();
        if (!run.hasConfig()) {
            problems.add(
                    "the checkpoint is quantized, and its ONNX export needs training images to"
                            + " calibrate and validation images to compare, but the run's"
                            + " config.yaml was not found; move the checkpoint to the folder of"
                            + " its run, or export the original checkpoint");
        }
        if (images.equals(Optional.of(0))) {
            problems.add("--images: got 0, but a quantized ONNX model needs images; use 1 or more");
        }
        if (computed != Precision.FLOAT32) {
            problems.add(
                    "--precision: quantized ONNX models compute other layers in float32; remove"
                            + " --precision, or export the original checkpoint");
        }
        LayerSelection.check(maxDrop, problems);
        problems.throwIfAny(checkpoint.toString());
    }

    private void requireFittingOptions() {
        Problems problems = new Problems();
        if (dynamic && size.isPresent()) {
            problems.add("got --dynamic and --size; expected one of them");
        }
        images.filter(number -> number < 0)
                .ifPresent(number -> problems.add("--images: got %d, expected 0 or more", number));
        List<String> ofPrograms =
                List.of("--size", "--dynamic", "--normalize", "--images", "--max-drop", "--data");
        if (!format.isProgram()) {
            ofPrograms.stream()
                    .filter(this::isGiven)
                    .forEach(
                            option ->
                                    problems.add(
                                            "%s has no effect for %s; remove it", option, format));
        }
        if (opset.isPresent() && format != Format.ONNX) {
            problems.add("--opset has no effect for %s; remove it", format);
        }
        if (precision.isPresent() && format == Format.DJL_SERVING) {
            problems.add("--precision has no effect for %s; remove it", format);
        }
        problems.throwIfAny("export");
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    /** Rejects a non-empty folder, whose files may be in use. */
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
            throw SaccadeException.io(e, "%s: cannot be listed", folder);
        }
    }
}

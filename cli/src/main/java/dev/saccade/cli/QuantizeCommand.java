package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.eval.LayerSelection;
import dev.saccade.report.runs.QuantizedModel;
import dev.saccade.report.runs.Quantizer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Optional;

@Command(
        name = "quantize",
        description = {
            "Quantize a trained model for faster predictions on CPUs with AVX-512 VNNI and AVX-512"
                    + " BF16.",
            "Uses training images to select the layers, and compares the quantized model with the"
                    + " original on the validation set. Writes no file if AP, mask AP, mIoU or"
                    + " top-1 drops too much."
        },
        footer = {
            "",
            "Example:  saccade quantize runs/resnet18_fpn_bccd --data data/bccd",
            "          saccade predict runs/resnet18_fpn_bccd/quantized.safetensors photos/"
        })
final class QuantizeCommand extends BaseCommand {

    @Mixin private RunArgument run;
    @Mixin private DataOption data;
    @Mixin private JsonOption json;

    @Option(
            names = "--max-drop",
            paramLabel = "DROP",
            defaultValue = "" + LayerSelection.MAX_DROP,
            description =
                    "Allow AP, mask AP, mIoU and top-1 (0 to 1) to drop by at most DROP,"
                            + " compared with the original in its own precision. Default:"
                            + " ${DEFAULT-VALUE}.")
    private double maxDrop;

    @Option(
            names = "--images",
            paramLabel = "N",
            defaultValue = "" + LayerSelection.IMAGES,
            description =
                    "Select the layers on N training images. More images make the selection more"
                            + " reliable. Default: ${DEFAULT-VALUE}.")
    private int images;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description =
                    "Write this file. Default: RUN/quantized.safetensors, or"
                            + " NAME_quantized.safetensors next to a checkpoint.")
    private Optional<Path> out = Optional.empty();

    @Option(names = "--overwrite", description = "Replace the file if it exists.")
    private boolean overwrite;

    @Override
    public Integer call() {
        Quantizer quantizer =
                new Quantizer(
                        run.config(data.root()),
                        new Quantizer.Settings(maxDrop, images, overwrite),
                        Progress::new);
        QuantizedModel result =
                StopSignal.runHalting(
                        () -> quantizer.write(run.checkpoint(), out.orElseGet(run::quantizedFile)));
        result.notes().forEach(note -> printMessage("%s", note));
        if (json.isSet()) {
            json.print(spec, result.json());
        } else {
            out().println(result.summary());
            result.tables().forEach(out()::println);
        }
        printMessage("%s: written", result.file());
        return 0;
    }
}

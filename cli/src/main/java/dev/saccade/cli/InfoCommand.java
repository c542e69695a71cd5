package dev.saccade.cli;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.fasterxml.jackson.annotation.JsonUnwrapped;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Says how large a model is and what a forward pass costs. */
@Command(
        name = "info",
        description = {
            "Print parameters, multiply-adds, feature shapes and peak memory of a model, or list"
                + " all backbones."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade info configs/retinanet/resnet50_fpn_1x_coco.yaml --size 800x1344",
            "          saccade info --all"
        })
final class InfoCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private ConfigArguments config;
    @Mixin private InputOptions input;
    @Mixin private JsonOption json;

    @Option(
            names = "--all",
            help = true,
            description = "List every backbone, your own included, instead of a CONFIG.")
    private boolean all;

    /** What there is to know about a model. */
    record Info(
            String name, @JsonUnwrapped ModelSize size, @JsonUnwrapped ForwardPass forwardPass) {}

    /**
     * How large a model is.
     *
     * @param parameters number of parameters
     * @param learned those that are not frozen
     */
    record ModelSize(long parameters, long learned, Map<String, Long> parametersByPart) {}

    /**
     * What a forward pass of one image is like.
     *
     * @param input height and width of the image
     * @param multiplyAdds its multiply-adds, see {@link Model#multiplyAdds}
     * @param countedObjects how many proposals and masks these include
     * @param features shape of every level that the head is given
     * @param peakMemoryMiB the most memory that the process held while it predicted
     */
    record ForwardPass(
            String input,
            long multiplyAdds,
            Map<String, Integer> countedObjects,
            List<String> features,
            long peakMemoryMiB) {}

    @Override
    public Integer call() {
        if (all) {
            list();
            return 0;
        }
        int classes = input.classes();
        Info info = measure(config.bind(), input.size(), classes);
        if (json.wanted()) {
            json.print(spec, info);
        } else {
            print(info, spec.commandLine().getOut());
        }
        return 0;
    }

    private void list() {
        List<String> unknown = spec.commandLine().getParseResult().unmatched();
        if (!unknown.isEmpty()) {
            throw new UnmatchedArgumentException(spec.commandLine(), unknown);
        }
        if (config.named().isPresent()) {
            throw SaccadeException.user("--all: expected no CONFIG, got %s", config.named().get());
        }
        if (json.wanted()) {
            json.print(spec, BackboneList.forMachines());
        } else {
            BackboneList.print(spec.commandLine().getOut());
        }
    }

    private Info measure(RunConfig run, Size size, int classes) {
        Model<?> model = run.model().build(Collections.nCopies(classes, "class"));
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            model.initialize(manager, 0);
            model.train(false);
            ImageBatch batch =
                    new ImageBatch(
                            manager.zeros(new Shape(1, 3, size.height(), size.width())),
                            List.of(ImageInfo.of(size)));
            List<String> features = NoGrad.call(() -> shapes(model, batch));
            model.predict(batch);
            long peakBytes = DeviceMemory.peakResidentBytes();
            return new Info(
                    config.name(),
                    new ModelSize(model.parameterCount(), learned(model), byPart(model)),
                    new ForwardPass(
                            size.toString(),
                            model.multiplyAdds(size),
                            model.dummyObjects(),
                            features,
                            peakBytes / (1 << 20)));
        }
    }

    private static long learned(Module module) {
        return module.namedParameters().values().stream()
                .filter(p -> !Module.isBuffer(p) && p.requiresGradient())
                .mapToLong(p -> p.getShape().size())
                .sum();
    }

    private static Map<String, Long> byPart(Model<?> model) {
        Map<String, Long> parts = new LinkedHashMap<>();
        long backbone = model.backbone().parameterCount();
        long neck = model.neck().map(Module::parameterCount).orElse(0L);
        parts.put("backbone", backbone);
        parts.put("neck", neck);
        parts.put("head", model.parameterCount() - backbone - neck);
        return parts;
    }

    /** Returns the shapes of what the head is given. */
    private static List<String> shapes(Model<?> model, ImageBatch batch) {
        FeaturePyramid features = model.features(batch.pixels());
        List<FeatureInfo> infos = model.levels();
        List<String> shapes = new ArrayList<>();
        for (int i = 0; i < features.size(); i++) {
            long[] shape = features.get(i).getShape().getShape();
            shapes.add(Text.format("stride %d: %s", infos.get(i).stride(), Arrays.toString(shape)));
        }
        features.levels().forEach(NDArray::close);
        return shapes;
    }

    private static void print(Info info, PrintWriter out) {
        ModelSize size = info.size();
        ForwardPass pass = info.forwardPass();
        out.println(Printable.line(info.name()));
        out.printf(
                Locale.ROOT,
                "  parameters     %.2f M, of which %.2f M are learned%n",
                size.parameters() / 1e6,
                size.learned() / 1e6);
        size.parametersByPart()
                .forEach(
                        (part, count) ->
                                out.printf(Locale.ROOT, "    %-10s   %.2f M%n", part, count / 1e6));
        out.printf(
                Locale.ROOT,
                "  multiply-adds  %.1f G for an input of %s%s%n",
                pass.multiplyAdds() / 1e9,
                pass.input(),
                pass.countedObjects().entrySet().stream()
                        .map(each -> Text.format(", %,d %s", each.getValue(), each.getKey()))
                        .collect(Collectors.joining()));
        out.printf(
                Locale.ROOT,
                "  features       %s%n",
                String.join("\n                 ", pass.features()));
        out.printf(
                Locale.ROOT,
                "  peak memory    %d MiB of this process, predicting%n",
                pass.peakMemoryMiB());
    }
}

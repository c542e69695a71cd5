package dev.saccade.configgen;

import com.google.common.base.Strings;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.zoo.PretrainedWeights;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Writes the config that suits a folder of labeled photographs and a machine, with reasons. */
public final class Proposal {

    private static final int MOST_CLASSES_TOLD = 6;

    private final LabeledFolder folder;
    private final Contents contents;
    private final Machine machine;
    private final Plan plan;
    private final Limits limits;
    private final Optional<PretrainedWeights> weights;
    private final StringBuilder text = new StringBuilder();

    private Proposal(LabeledFolder folder, Contents contents, Machine machine) {
        this.folder = folder;
        this.contents = contents;
        this.machine = machine;
        this.plan = Plan.of(contents, machine);
        this.limits = new Limits(contents.mostObjects());
        this.weights = weightsHere();
    }

    /** Returns weights of the backbone that somebody has fetched already, if there are any. */
    private Optional<PretrainedWeights> weightsHere() {
        Backbone.Config backbone = PretrainedWeights.named("resnet" + depth()).backbone();
        return PretrainedWeights.all().stream()
                .filter(each -> each.find().isPresent() && each.fit(backbone))
                .findFirst();
    }

    /** Returns the config as YAML. */
    public static String write(LabeledFolder folder, Contents contents, Machine machine) {
        Proposal proposal = new Proposal(folder, contents, machine);
        proposal.describe();
        proposal.model();
        proposal.data();
        proposal.schedule();
        return proposal.text.toString();
    }

    /** Returns what the config does to the size of images. */
    static List<Transform> transforms(Contents contents, Machine machine) {
        Plan plan = Plan.of(contents, machine);
        List<Integer> size = List.of(plan.longEdge(), plan.shortEdge());
        return List.of(new Resize(List.of(size), Resize.Mode.VALUE, true, List.of(), 1));
    }

    private void describe() {
        line("# %s: %s.", Printable.line(folder.root()), held());
        if (!contents.perClass().isEmpty()) {
            line("# %s", classes());
        }
        if (machine.gpu()) {
            line("# Written for %s; a batch that does not fit is told in the first step.", machine);
        } else {
            line(
                    "# Written for %s: a small model that learns from %s.",
                    machine, weights.isPresent() ? "weights that are here" : "nothing");
        }
        if (weights.isPresent()) {
            because("init_from: " + weights.get().name(), "here already; learns faster, sees more");
        } else {
            line("# Weights to start from make it learn faster and see more, once they are here:");
            line("# init_from: resnet%d    # ./saccade weights fetch resnet%d", depth(), depth());
        }
    }

    private String held() {
        String size =
                Text.format(
                        "%s of about %dx%d",
                        Count.of(contents.photographs(), "photograph"),
                        contents.longEdge(),
                        contents.shortEdge());
        return contents.targets() == TargetKind.LABEL_MAPS
                ? size + " with a class for every pixel"
                : size
                        + Text.format(
                                " with %s%s",
                                Count.of(contents.objects(), "object"),
                                contents.targets().hasMasks() ? " and their outlines" : "");
    }

    private String classes() {
        Map<String, Integer> all = contents.perClass();
        String most =
                all.entrySet().stream()
                        .sorted(Collections.reverseOrder(Map.Entry.comparingByValue()))
                        .limit(MOST_CLASSES_TOLD)
                        .map(each -> Printable.format("%s %d", each.getKey(), each.getValue()))
                        .collect(Collectors.joining(", "));
        long none = all.values().stream().filter(n -> n == 0).count();
        return Count.of(all.size(), "class")
                + ": "
                + most
                + (all.size() > MOST_CLASSES_TOLD ? ", ..." : "")
                + (none > 0 ? Text.format("; %d of them without any", none) : "")
                + ".";
    }

    private int depth() {
        return machine.gpu() ? 50 : 18;
    }

    private void model() {
        String base =
                switch (contents.targets()) {
                    case BOXES -> "retinanet_resnet_fpn";
                    case MASKS, MASKS_AND_LABEL_MAPS -> "mask_rcnn_fpn";
                    case LABEL_MAPS -> "semantic_fpn";
                };
        line("base:");
        line("  - saccade:_base_/runtime.yaml");
        line("  - saccade:_base_/models/%s.yaml", base);
        line("model:");
        boolean asTheBase = contents.targets() == TargetKind.LABEL_MAPS || weights.isPresent();
        String frozen = asTheBase ? "" : ", frozen_stages: -1, norm_eval: false";
        because(
                Text.format(
                        "  backbone: {depth: %d%s, zero_init_residual: false}", depth(), frozen),
                frozen.isEmpty() ? "" : "with init_from: frozen_stages: 1, norm_eval: true");
        if (!machine.gpu()) {
            line(
                    "  neck: {out_channels: %d}",
                    contents.targets() == TargetKind.LABEL_MAPS ? 128 : 64);
        }
        switch (contents.targets()) {
            case BOXES -> boxes();
            case MASKS, MASKS_AND_LABEL_MAPS -> masks();
            case LABEL_MAPS -> {}
        }
    }

    private void boxes() {
        int scale = plan.baseScale(contents, 8, 2, 4);
        line("  head:");
        if (!machine.gpu()) {
            line("    feat_channels: 64");
            line("    stacked_convs: 2");
        }
        because(
                Text.format("    octave_base_scale: %d", scale),
                Text.format("the smallest anchors are %d pixels", 8 * scale));
        if (limits.isDense()) {
            line("    nms_pre: %d", limits.candidates());
            maxPerImage();
        }
    }

    private void maxPerImage() {
        because(
                Text.format("    nms: {max_per_img: %d}", limits.detections()),
                Text.format("up to %d objects in an image", contents.mostObjects()));
    }

    private void masks() {
        int scale = plan.baseScale(contents, 4, 4, 8);
        line("  head:");
        line("    rpn_head:");
        if (!machine.gpu()) {
            line("      feat_channels: 64");
        }
        because(
                Text.format("      scales: [%d]", scale),
                Text.format("the smallest anchors are %d pixels", 4 * scale));
        if (limits.isDense()) {
            for (String proposals : List.of("train_proposals", "test_proposals")) {
                line(
                        "      %s: {nms_pre: %d, max_per_img: %d}",
                        proposals, Math.max(limits.candidates(), 2000), limits.candidates());
            }
            maxPerImage();
        }
        if (!machine.gpu()) {
            line("    bbox_head: {fc_out_channels: 256}");
            line("    mask_head: {conv_out_channels: 64}");
        }
    }

    private void data() {
        line("data:");
        line("  root: %s", ConfigWriter.text(folder.root().toString()));
        folder.parts().forEach((role, part) -> line("  %s: %s", role, inline(part)));
        if (folder.val().isEmpty()) {
            line("  # val: nothing is set aside to measure on, so nobody knows how good it gets;");
            line(
                    "  # ./saccade convert-data %s --out DIR divides the photographs.",
                    Printable.word(folder.root()));
        }
        because(
                Text.format("  image_size: [%d, %d]", plan.longEdge(), plan.shortEdge()),
                whySize());
        if (contents.targets() == TargetKind.LABEL_MAPS) {
            pixels();
        }
        because(
                Text.format("  batch_size: %d", plan.batchSize()),
                machine.gpu() ? "what should fit into " + machine : "");
        line("  workers: %d", Math.min(Math.max(machine.cores() / 2, 1), 8));
    }

    private String whySize() {
        if (contents.smallObject() == 0) {
            return "";
        }
        double factor = (double) plan.longEdge() / Math.max(1, contents.longEdge());
        return Text.format(
                "small objects are then some %.0f pixels across", factor * contents.smallObject());
    }

    private void pixels() {
        int edge = machine.gpu() ? 512 : 256;
        int crop =
                Math.min(edge, Math.max(32, Math.min(plan.longEdge(), plan.shortEdge()) / 32 * 32));
        because(
                Text.format("  crop_size: [%d, %d]", crop, crop),
                "what a step sees of a photograph");
        line("  train_transforms:");
        line("    - {type: resize, ratio_range: [0.5, 2.0]}");
        line("    - {type: random_crop, mode: absolute, cat_max_ratio: 0.75}");
        line("    - {type: random_flip, probability: 0.5}");
        line("    - {type: photometric_distortion, form: segmentation}");
        line("    - {type: normalize}");
        line("    - {type: pad}");
        line("  val_transforms: [{type: resize}, {type: normalize}]");
    }

    private void schedule() {
        boolean pixels = contents.targets() == TargetKind.LABEL_MAPS;
        String fromNothing = machine.gpu() ? "3.0e-4" : "1.0e-3";
        because(
                Text.format(
                        "optimizer: {type: adamw, learning_rate: %s, weight_decay: %s}",
                        weights.isPresent() ? "1.0e-4" : fromNothing, pixels ? "0.01" : "0.05"),
                weights.isPresent() ? "" : "with init_from: learning_rate: 1.0e-4");
        line(
                pixels
                        ? "schedule: {type: poly, power: 0.9, min_learning_rate: 0, warmup:"
                              + " {iterations: %d}}"
                        : "schedule: {type: cosine, warmup: {iterations: %d}}",
                plan.warmup());
        line("max_gradient_norm: 10");
        because(
                Text.format("epochs: %d", plan.epochs()),
                Text.format(
                        "%d steps of %s", plan.steps(), Count.of(plan.batchSize(), "photograph")));
        line("log_interval: %d", Math.min(Math.max(plan.stepsPerEpoch() / 4, 1), 50));
        line("evaluation:");
        line("  every: {epochs: %d}", plan.evaluationEpochs());
        if (limits.isDense()) {
            line("  evaluators: [{type: coco, max_dets: [1, 10, %d]}]", limits.detections());
        }
        line("checkpoint: {every: {epochs: %d}}", plan.evaluationEpochs());
    }

    /** Returns the settings of a data set in one line. */
    private static String inline(Dataset.Config part) {
        String yaml = ConfigWriter.yaml(Configs.unbindChanges((Record) part));
        return yaml.lines().map(String::strip).collect(Collectors.joining(", ", "{", "}"));
    }

    private void because(String line, String reason) {
        text.append(reason.isEmpty() ? line : Strings.padEnd(line, 48, ' ') + "  # " + reason)
                .append('\n');
    }

    @FormatMethod
    private void line(@FormatString String line, Object... values) {
        text.append(Text.format(line, values)).append('\n');
    }
}

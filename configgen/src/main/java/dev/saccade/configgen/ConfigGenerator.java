package dev.saccade.configgen;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.train.data.DataReports;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Generates a config for a data set and a machine, with comments that explain the choices. */
public final class ConfigGenerator {

    private static final int SHOWN_CLASSES = 6;

    private static final int EVALUATIONS = 6;
    private static final int LOG_LINES = 80;

    private final LabeledFolder folder;
    private final DatasetContents contents;
    private final Machine machine;
    private final boolean isPixels;
    private final boolean isClassifier;
    private final Plan plan;
    private final ObjectLimits limits;
    private final StartingPoint start;
    private final ConfigText text = new ConfigText();

    private ConfigGenerator(LabeledFolder folder, DatasetContents contents, Machine machine) {
        this.folder = folder;
        this.contents = contents;
        this.machine = machine;
        this.isPixels = contents.targets() == TargetKind.LABEL_MAPS;
        this.isClassifier = contents.targets() == TargetKind.CLASSES;
        this.start = StartingPoint.of(contents.targets(), machine);
        this.plan = Plan.of(contents, machine, start.detector().isPresent());
        this.limits = new ObjectLimits(contents.mostObjects());
    }

    /** Returns the config for a folder and this machine, as YAML. */
    public static String generate(LabeledFolder folder) {
        return generate(folder, DatasetContents.of(folder), Machine.current());
    }

    /** Returns the config for a folder and a machine, as YAML. */
    public static String generate(LabeledFolder folder, DatasetContents contents, Machine machine) {
        contents.stored().ifPresent(StoredPixels::requireNoFaults);
        ConfigGenerator generator = new ConfigGenerator(folder, contents, machine);
        generator.describe();
        generator.addModel();
        generator.addData();
        generator.addSchedule();
        return generator.text.toString();
    }

    /** Checks a folder as training does; {@code contents} is empty if labels are unreadable. */
    public static DataReports check(
            LabeledFolder folder,
            Optional<DatasetContents> contents,
            Machine machine,
            CheckOptions.Depth depth,
            Runnable onImage) {
        TargetKind targets = contents.map(DatasetContents::targets).orElse(folder.targets());
        CheckOptions options =
                new CheckOptions(depth, targets, machine.cores(), onImage)
                        .with(
                                contents.flatMap(DatasetContents::stored)
                                        .map(StoredPixels::format)
                                        .orElse(PixelFormat.RGB),
                                any -> {});
        return DataReports.check(
                folder.parts(),
                folder.root(),
                contents.map(known -> options.with(resize(known, machine))).orElse(options));
    }

    private static List<Transform> resize(DatasetContents contents, Machine machine) {
        if (contents.targets() == TargetKind.CLASSES) {
            return List.of();
        }
        StartingPoint start = StartingPoint.of(contents.targets(), machine);
        Plan plan = Plan.of(contents, machine, start.detector().isPresent());
        List<Integer> size = List.of(plan.longEdge(), plan.shortEdge());
        return List.of(new Resize(List.of(size), Resize.Mode.VALUE, true, List.of(), 1));
    }

    private void describe() {
        add("# %s: %s.", Printable.line(folder.root()), summary());
        if (!contents.perClass().isEmpty()) {
            add("# %s", classes());
        }
        contents.stored().ifPresent(pixels -> pixels.describe().forEach(line -> add("# %s", line)));
        if (isClassifier) {
            ClassifierSettings.describeRareClass(text, contents);
        }
        if (machine.gpu()) {
            add(
                    "# Written for %s. Step 1 reports an error if the batch does not fit"
                            + " into memory.",
                    machine);
        } else {
            add(
                    "# Written for %s: %s.",
                    machine,
                    start.detector().isPresent()
                            ? "a detector that is fine-tuned"
                            : "a small model that is trained from "
                                    + (start.backbone().isPresent()
                                            ? "downloaded weights"
                                            : "scratch"));
        }
        start.recommendation()
                .ifPresent(
                        name ->
                                add(
                                        "# Pretrained weights make training faster and more"
                                                + " accurate: run ./saccade weights fetch %s, delete"
                                                + " this file, and run ./saccade new %s.",
                                        name, Printable.shellWord(folder.root())));
        start.initFrom().ifPresent(name -> add("init_from: %s\tdownloaded", name));
    }

    private String summary() {
        String images =
                Text.format(
                        "%s of about %dx%d",
                        Count.of(contents.images(), "image"),
                        contents.longEdge(),
                        contents.shortEdge());
        return switch (contents.targets()) {
            case LABEL_MAPS -> images + " with label maps";
            case CLASSES -> images + ", each with a class";
            case BOXES, MASKS, MASKS_AND_LABEL_MAPS ->
                    Text.format(
                            "%s with %s%s",
                            images,
                            Count.of(contents.objects(), "object"),
                            contents.targets().hasMasks() ? " and their masks" : "");
        };
    }

    private String classes() {
        Map<String, Integer> all = contents.perClass();
        String most =
                all.entrySet().stream()
                        .sorted(Collections.reverseOrder(Map.Entry.comparingByValue()))
                        .limit(SHOWN_CLASSES)
                        .map(each -> Printable.format("%s %d", each.getKey(), each.getValue()))
                        .collect(Collectors.joining(", "));
        long none = all.values().stream().filter(n -> n == 0).count();
        return Text.format(
                "%s: %s%s%s.",
                Count.of(all.size(), "class"),
                most,
                all.size() > SHOWN_CLASSES ? ", ..." : "",
                none > 0
                        ? Text.format("; %d without %s", none, isClassifier ? "images" : "objects")
                        : "");
    }

    private void addModel() {
        if (start.detector().isPresent()) {
            addPretrainedDetector();
            return;
        }
        addBase(
                switch (contents.targets()) {
                    case BOXES -> "retinanet_resnet_fpn";
                    case MASKS, MASKS_AND_LABEL_MAPS -> "mask_rcnn_fpn";
                    case LABEL_MAPS -> "semantic_fpn";
                    case CLASSES -> "classifier";
                });
        if (isClassifier) {
            ClassifierSettings.addModel(
                    text, start, StartingPoint.depth(machine), contents.images());
            return;
        }
        boolean scratch = !isPixels && start.initFrom().isEmpty();
        String frozen =
                isPixels
                        ? ""
                        : Text.format(
                                ", frozen_stages: %d",
                                scratch ? -1 : StartingPoint.frozenStages(contents.images()));
        add(
                "  backbone: {depth: %d%s%s, zero_init_residual: false}",
                StartingPoint.depth(machine), frozen, scratch ? ", norm_eval: false" : "");
        addForCpu("  neck: {out_channels: %d}", isPixels ? 128 : 64);
        switch (contents.targets()) {
            case BOXES -> addRetinaNet();
            case MASKS, MASKS_AND_LABEL_MAPS -> addMaskRcnn();
            case LABEL_MAPS, CLASSES -> {}
        }
    }

    private void addBase(String model) {
        add(
                """
                base:
                  - saccade:_base_/runtime.yaml
                  - saccade:_base_/models/%s.yaml
                model:""",
                model);
    }

    /** Adds the model of the downloaded detector; the data set replaces its classes. */
    private void addPretrainedDetector() {
        int frozen = StartingPoint.frozenStages(contents.images());
        boolean boxes = contents.targets() == TargetKind.BOXES;
        if (boxes && !machine.gpu()) {
            addBase("retinanet_resnet_fpn");
            add("  backbone: {depth: 18, frozen_stages: %d}", frozen);
            if (limits.isDense()) {
                add("  head:");
                addDenseLimits();
            }
            return;
        }
        addBase(boxes ? "rcnn_v2_torchvision" : "mask_rcnn_v2_torchvision");
        add("  backbone: {frozen_stages: %d, norm_eval: true}", frozen);
        if (boxes || limits.isDense()) {
            add("  head:");
        }
        if (boxes) {
            add("    type: faster_rcnn");
        }
        if (limits.isDense()) {
            add("    rpn_head:");
            addProposalLimits();
        }
    }

    private void addRetinaNet() {
        int scale = plan.baseScale(contents, 8, 2, 4);
        add("  head:");
        addForCpu("    feat_channels: 64\n    stacked_convs: 2");
        add("    octave_base_scale: %d\tthe smallest anchors are %d pixels", scale, 8 * scale);
        if (limits.isDense()) {
            addDenseLimits();
        }
    }

    private void addDenseLimits() {
        add("    nms_pre: %d", limits.candidates());
        addMaxPerImage();
    }

    private void addMaskRcnn() {
        int scale = plan.baseScale(contents, 4, 4, 8);
        add("  head:\n    rpn_head:");
        addForCpu("      feat_channels: 64");
        add("      scales: [%d]\tthe smallest anchors are %d pixels", scale, 4 * scale);
        if (limits.isDense()) {
            addProposalLimits();
        }
        addForCpu("    bbox_head: {fc_out_channels: 256}\n    mask_head: {conv_out_channels: 64}");
    }

    private void addProposalLimits() {
        for (String proposals : List.of("train_proposals", "test_proposals")) {
            add(
                    "      %s: {nms_pre: %d, max_per_img: %d}",
                    proposals, Math.max(limits.candidates(), 2000), limits.candidates());
        }
        addMaxPerImage();
    }

    private void addMaxPerImage() {
        add(
                "    nms: {max_per_img: %d}\tup to %d objects in an image",
                limits.detections(), contents.mostObjects());
    }

    private void addData() {
        add("data:\n  root: %s", ConfigWriter.text(folder.root().toString()));
        if (folder.isHeldOut()) {
            add("  # A fifth of the images of each class is held out for validation.");
        }
        folder.parts()
                .forEach(
                        (role, part) -> {
                            add("  %s: %s", role, inline(part));
                            if (isClassifier && role.equals("train")) {
                                ClassifierSettings.addBalanced(text, contents, part);
                            }
                        });
        if (folder.val().isEmpty()) {
            add(
                    """
                      # val: add a validation set to evaluate the model;
                      # ./saccade convert-data %s --out DIR splits the images.
                    """,
                    Printable.shellWord(folder.root()));
        }
        TransformSettings.add(text, contents, plan, machine);
        add(
                "  batch_size: %d\t%s",
                plan.batchSize(), machine.gpu() ? "estimated for " + machine : "");
        add("  workers: %d", Math.min(Math.max(machine.cores() / 2, 1), 8));
    }

    private void addSchedule() {
        String fromScratch = machine.gpu() ? "3.0e-4" : "1.0e-3";
        String fineTuned = isClassifier ? "3.0e-4" : "1.0e-4";
        add(
                "optimizer: {type: adamw, learning_rate: %s, weight_decay: %s}",
                start.initFrom().isPresent() ? fineTuned : fromScratch, isPixels ? "0.01" : "0.05");
        add(
                "schedule: {type: %s, warmup: {iterations: %d}}\nmax_gradient_norm: 10",
                isPixels ? "poly, power: 0.9, min_learning_rate: 0" : "cosine", plan.warmup());
        if (machine.fastBfloat16()) {
            add("precision: bfloat16\tabout half the time of float32 on this CPU");
        }
        String every;
        if (plan.isShort()) {
            add(
                    "iterations: %d\t%d epochs of %s",
                    plan.steps(), plan.epochs(), Count.of(plan.stepsPerEpoch(), "step"));
            every = Text.format("{iterations: %d}", Math.max(1, plan.steps() / EVALUATIONS));
        } else {
            add(
                    "epochs: %d\t%d steps of %s",
                    plan.epochs(), plan.steps(), Count.of(plan.batchSize(), "image"));
            every = Text.format("{epochs: %d}", Math.max(1, plan.epochs() / EVALUATIONS));
        }
        add(
                "log_interval: %d\nevaluation:\n  every: %s",
                Math.min(Math.max(plan.steps() / LOG_LINES, 1), 50), every);
        if (contents.targets().hasMasks()) {
            add("  monitor: mask_AP");
        }
        if (limits.isDense()) {
            add("  evaluators: [{type: coco, max_dets: [1, 10, %d]}]", limits.detections());
        }
        add("checkpoint: {every: %s}", every);
    }

    /** Formats a data set config as one line of YAML. */
    static String inline(Dataset.Config part) {
        return ConfigWriter.inline(Configs.unbindChanges((Record) part));
    }

    /** Adds lines that make the model smaller, unless there is a GPU. */
    @FormatMethod
    private void addForCpu(@FormatString String lines, Object... values) {
        if (!machine.gpu()) {
            add(lines, values);
        }
    }

    @FormatMethod
    private void add(@FormatString String lines, Object... values) {
        text.add(lines, values);
    }
}

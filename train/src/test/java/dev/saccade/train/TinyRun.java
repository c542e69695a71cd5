package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.ActivationCheckpointing;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.models.Provenance;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.checkpoint.RunCheckpoints;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunLayout;
import dev.saccade.train.checkpoint.RunProvenance;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import javax.imageio.ImageIO;

/** A run of a small net on eight photographs: 4 batches an epoch, 20 steps in all. */
final class TinyRun {

    static final RunProvenance PROVENANCE = provenance("saccade 1.0");

    static RunProvenance provenance(String software) {
        return new RunProvenance(
                new Provenance(
                        List.of(software),
                        Optional.empty(),
                        new Provenance.TrainingData(Optional.empty(), 8, "tiny"),
                        0,
                        0,
                        Map.of(),
                        Map.of("seed", "0")),
                "AP");
    }

    /** Photographs of one color each, which is what the net has to tell. */
    record Photos(Path folder) implements Dataset {

        static final int COUNT = 8;

        /** Writes the files. */
        static Photos in(Path folder) {
            for (int i = 0; i < COUNT; i++) {
                BufferedImage image = new BufferedImage(40, 32, BufferedImage.TYPE_INT_RGB);
                for (int y = 0; y < 32; y++) {
                    for (int x = 0; x < 40; x++) {
                        image.setRGB(x, y, 0x102030 * (i % 4) + 3 * x + (y << 9));
                    }
                }
                try {
                    Files.createDirectories(folder);
                    ImageIO.write(image, "png", folder.resolve(i + ".png").toFile());
                } catch (IOException e) {
                    throw SaccadeException.io(e, "%s", folder);
                }
            }
            return new Photos(folder);
        }

        @Override
        public List<String> classes() {
            return List.of("thing");
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, COUNT)
                    .mapToObj(i -> new ImageFile(100 + i, file(i), new Size(32, 40)))
                    .toList();
        }

        private Path file(int index) {
            return folder.resolve(index + ".png");
        }

        @Override
        public List<Annotation> annotations(int index) {
            return List.of(Annotation.of(index, 0, 1, 2, 10, 8));
        }
    }

    /** {@code x + drop(conv(x))}. */
    private static final class Residual extends Layer {

        private final Conv2d conv =
                add("conv", new Conv2d(new Geometry(4, 4, 3).padding(1), WeightInit.normal(0.1)));
        private final DropPath drop = add("drop", new DropPath(0.5));

        @Override
        protected NDArray forward(NDArray x) {
            return x.add(drop.apply(conv.apply(x)));
        }
    }

    /** Two convolutions, with a block that is recomputed and a normalization between. */
    static final class Net extends Layer {

        private final Conv2d stem =
                add("stem", Conv2d.withoutBias(new Geometry(3, 4, 3).stride(2).padding(1)));
        private final BatchNorm2d norm = add("norm", new BatchNorm2d(4));
        private final Residual block = add("block", new Residual());
        private final Conv2d head =
                add(
                        "head",
                        new Conv2d(
                                new Geometry(4, 2, 3).stride(2).padding(1),
                                WeightInit.normal(0.1)));

        @Override
        protected NDArray forward(NDArray x) {
            return head.apply(norm.apply(ActivationCheckpointing.run(block, stem.apply(x))));
        }
    }

    final NDManager manager = NDManager.newBaseManager();
    final Net net = new Net();
    private final List<Hook> hooks = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private BiFunction<Batch, NDManager, Losses> losses = this::squares;
    private Optional<Validation> validation = Optional.empty();
    private long lastStep = Long.MAX_VALUE;
    private volatile boolean interrupted;

    TinyRun() {
        net.initialize(manager, 7);
    }

    /** Returns the mean over the images of what the net should have said 0 and 1 to. */
    Losses squares(Batch batch, NDManager scratch) {
        NDArray said = net.apply(batch.to(scratch).pixels());
        NDArray a = said.get(":, 0").square().mean();
        NDArray b = said.get(":, 1").sub(1).square().mean();
        return new Losses(ImmutableMap.of("loss_a", a, "loss_b", b));
    }

    TinyRun losses(BiFunction<Batch, NDManager, Losses> other) {
        losses = other;
        return this;
    }

    TinyRun validation(Validation other) {
        validation = Optional.of(other);
        return this;
    }

    TinyRun hook(Hook other) {
        hooks.add(other);
        return this;
    }

    /** Asks to stop after some step. */
    TinyRun stopAfter(long steps) {
        lastStep = steps;
        return this;
    }

    /** Asks to stop now; in any thread. */
    void interrupt() {
        interrupted = true;
    }

    /** Returns what was noted, warnings about damaged checkpoints included. */
    List<String> notes() {
        return notes;
    }

    static RunConfig config(Path folder, String... overrides) {
        try {
            Path file =
                    Files.writeString(
                            folder.resolve("tiny.yaml"),
                            """
                            model:
                              backbone: {type: resnet, depth: 18}
                              neck: {type: fpn}
                              head: {type: retinanet}
                            data:
                              train: {type: coco}
                              batch_size: 2
                              train_transforms: [{type: random_flip}, {type: normalize}]
                            optimizer: {type: sgd, learning_rate: 0.05}
                            schedule: {type: step, milestones: [3], warmup: {iterations: 6}}
                            epochs: 5
                            """);
            return RunConfig.load(file, overrides);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s", folder);
        }
    }

    Outcome start(RunConfig config, Photos photos, Path folder) {
        return run(config, photos, RunFolder.create(folder), false);
    }

    Outcome resume(RunConfig config, Photos photos, Path folder) {
        return run(config, photos, new RunFolder(folder), true);
    }

    private Outcome run(RunConfig config, Photos photos, RunFolder folder, boolean resume) {
        try (manager;
                Optimizer optimizer = config.optimizer().build(net);
                DataLoader<Batch> loader =
                        DataLoader.training(
                                photos,
                                config.data().trainTransformsAtSize(),
                                TargetKind.BOXES,
                                config.data().batchSize(),
                                1,
                                config.seed())) {
            hooks.add(
                    new Hook() {
                        @Override
                        public void afterStep(Run run, StepReport step) {
                            if (step.iteration() == lastStep) {
                                interrupt();
                            }
                        }
                    });
            Hooks all = new Hooks(hooks);
            Optional<ModelEma> ema = config.ema().map(averaging -> averaging.build(net));
            RunCheckpoints checkpoints =
                    new RunCheckpoints(
                            folder,
                            new Checkpointables(net, optimizer, ema, all),
                            Map.of("run.data", "tiny"),
                            PROVENANCE,
                            RunLayout.of(config, loader.batchesPerEpoch(), 1),
                            ProcessGroup.alone());
            RunState state = resume ? checkpoints.resume(notes::add) : RunState.START;
            TrainStep step = new TrainStep(losses, optimizer, ema, config, ProcessGroup.alone());
            return new Trainer(
                            config,
                            checkpoints,
                            state,
                            step,
                            loader,
                            validation,
                            new Hooks(List.of()),
                            () -> interrupted)
                    .train(List.of());
        }
    }
}

package dev.saccade.cli;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Maps;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.config.Origin;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.Neck;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.classification.ImageLoss;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/** Uses a config record on a small scale. */
final class Trial {

    private static final InputSize INPUT =
            new InputSize(Optional.of(List.of(64, 64)), Optional.empty());

    private static final Size SIZE = new Size(64, 64);
    private static final List<String> CLASSES = List.of("cat", "dog", "sky");

    /** Larger models are built but not run, because time and memory grow with their size. */
    private static final long MAX_RUN = 20_000_000;

    private static final ModelConfig SMALL =
            Configs.bind(
                    ConfigFile.parse(
                            """
                            backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
                            neck: {type: fpn, out_channels: 16}
                            head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
                            """,
                            "small.yaml"),
                    ModelConfig.class);

    /** Keys of a head for each component type. */
    private static final Map<Class<?>, String> PARTS_OF_HEADS =
            Map.of(
                    Assigner.class, "assigner",
                    BaseSampler.class, "sampler",
                    MulticlassNms.class, "nms",
                    BoxCoder.class, "bbox_coder",
                    BoxLoss.class, "loss_bbox",
                    ClassificationLoss.class, "loss_cls");

    private static final Path ONE_OBJECT = oneObject();

    private Trial() {}

    static void of(Record settings) {
        if (settings instanceof Backbone.Config backbone) {
            run(new ModelConfig(backbone, SMALL.neck(), SMALL.head(), none(), none()));
        } else if (settings instanceof Neck.Config neck) {
            run(ModelConfig.detector(SMALL.backbone(), neck, (DetectionHead.Config) SMALL.head()));
        } else if (settings instanceof HeadConfig head) {
            run(new ModelConfig(SMALL.backbone(), SMALL.neck(), head, none(), none()));
        } else if (PARTS_OF_HEADS.keySet().stream().anyMatch(kind -> kind.isInstance(settings))) {
            run(smallWith(settings));
        } else if (settings instanceof Transform transform) {
            read(List.of(INPUT.applyTo(List.of(transform))));
        } else if (settings instanceof BatchAugment augment) {
            augment(augment);
        } else if (settings instanceof ImageLoss loss) {
            classify(loss);
        } else if (settings instanceof Dataset.Config data) {
            data.open(Path.of("no", "such", "folder"));
        } else if (settings instanceof Optimizer.Config optimizer) {
            step(optimizer);
        } else if (settings instanceof Schedule schedule) {
            RunLength length = new RunLength(1000, 10);
            for (long i = 0; i < 1000; i += 333) {
                schedule.learningRate(0.01, i, length);
            }
        } else if (settings instanceof DetectionEvaluator.Config evaluator) {
            evaluate(evaluator);
        } else if (settings instanceof ModelSpec spec) {
            readAll(spec.transforms(), spec.tta());
        } else if (settings instanceof RunConfig config) {
            plan(config);
        } else {
            throw new AssertionError(settings.getClass() + ": nothing is known of its use");
        }
    }

    private static void augment(BatchAugment augment) {
        List<ClassTarget> targets = new ArrayList<>(List.of(ClassTarget.of(0), ClassTarget.of(1)));
        FloatBuffer pixels = FloatBuffer.allocate(Math.toIntExact(2 * 3 * SIZE.area()));
        augment.apply(new BatchAugment.Images(pixels, SIZE, targets), new SplittableRandom(0));
    }

    private static void classify(ImageLoss loss) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray targets = targets(manager);
            loss.loss(targets, targets).toFloatArray();
        }
    }

    /** Returns classes of two images, {@code [2, 3]}. */
    private static NDArray targets(NDManager manager) {
        return manager.create(new float[] {1, 0, 0, 0, 0.5f, 0.5f}, new Shape(2, 3));
    }

    private static void evaluate(DetectionEvaluator.Config evaluator) {
        CocoDataset data = CocoDataset.open(ONE_OBJECT, Path.of("images"), List.of());
        CocoDetections found =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(1, 1, 4, 4), 0.5)
                        .build();
        DetectionEvaluation.compute(data, found, evaluator, false, 1);
    }

    private static Path oneObject() {
        try {
            Path file = Files.createTempFile("one_object", ".json");
            file.toFile().deleteOnExit();
            return Files.writeString(
                    file,
                    """
                    {"images": [{"id": 1, "file_name": "a.png", "width": 8, "height": 8}],
                     "categories": [{"id": 1, "name": "dot"}],
                     "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "area": 16,
                                      "bbox": [1, 1, 4, 4], "iscrowd": 0}]}
                    """);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ModelConfig smallWith(Record partOfHead) {
        String key =
                PARTS_OF_HEADS.entrySet().stream()
                        .filter(place -> place.getKey().isInstance(partOfHead))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElseThrow();
        ConfigNode.Mapping head = section(key, Configs.unbind(partOfHead));
        return Configs.bind(
                Configs.unbind(SMALL).mergedWith(section("head", head)), ModelConfig.class);
    }

    private static ConfigNode.Mapping section(String key, ConfigNode value) {
        return new ConfigNode.Mapping(Map.of(key, value), Origin.DEFAULT);
    }

    private static <T> Optional<T> none() {
        return Optional.empty();
    }

    private static void run(ModelConfig config) {
        Model<?> model = config.build(CLASSES);
        if (model.parameterCount() > MAX_RUN) {
            return;
        }
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            model.initialize(manager, 0);
            NDArray pixels =
                    manager.randomUniform(-1, 1, new Shape(2, 3, SIZE.height(), SIZE.width()));
            ImageInfo image = ImageInfo.of(SIZE);
            ImageBatch batch = new ImageBatch(pixels, List.of(image, image));
            NoGrad.call(() -> losses(model, batch, manager))
                    .terms()
                    .values()
                    .forEach(NDArray::toFloatArray);
            model.train(false);
            model.predict(batch);
        }
    }

    private static Losses losses(Model<?> model, ImageBatch batch, NDManager manager) {
        NDArray labels =
                manager.ones(new Shape(2, SIZE.height(), SIZE.width()))
                        .toType(DataType.INT64, false);
        Instances object =
                Instances.groundTruth(Boxes.of(8, 8, 40, 40), 1)
                        .withMasks(List.of(Rle.fromBox(SIZE, 8, 8, 32, 32)));
        return model.match(
                detector -> detector.losses(batch, List.of(object, object), labels),
                segmenter -> segmenter.losses(batch, labels),
                classifier -> classifier.losses(batch, targets(manager)));
    }

    private static void readAll(List<Transform> transforms, NamedAugmentations tta) {
        read(List.of(transforms));
        tta.tta().values().forEach(each -> read(each.pipelines(transforms)));
    }

    private static void read(List<List<Transform>> pipelines) {
        BufferedImage photo = new BufferedImage(64, 48, BufferedImage.TYPE_3BYTE_BGR);
        new InferenceReader(pipelines).read(List.of(ImageSource.of(photo))).close();
    }

    private static void step(Optimizer.Config config) {
        Backbone backbone = SMALL.backbone().build();
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            backbone.initialize(manager, 0);
            try (Optimizer optimizer = config.build(backbone)) {
                Map<String, NDArray> gradients =
                        Maps.transformValues(optimizer.parameters(), p -> p.getArray().onesLike());
                optimizer.step(new Gradients(gradients), 1, config.learningRate());
            }
        }
    }

    private static void plan(RunConfig config) {
        RunLength length = config.length(10, 1);
        config.schedule().learningRate(config.learningRate(1), length.iterations() - 1, length);
        length.epoch(length.iterations() - 1);
        config.evaluation().every().isDue(length.iterations(), length);
        config.checkpoint().every().isDue(length.iterations(), length);
        config.checkpoint().keepEvery().ifPresent(e -> e.isDue(length.iterations(), length));
        readAll(config.data().valTransformsAtSize(), config.data().tta());
        run(config.model());
    }
}

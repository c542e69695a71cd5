package dev.saccade.train.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.weights.StemInit;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

class RunConfigBuilderTest {

    private static final String RECIPE = "retinanet/resnet50_fpn_1x_coco";

    /** A typed change and the same change as a string. */
    private record Change(
            String method, UnaryOperator<RunConfigBuilder> typed, List<String> overrides) {

        Change(String method, UnaryOperator<RunConfigBuilder> typed, String... overrides) {
            this(method, typed, List.of(overrides));
        }
    }

    private static final List<Change> CHANGES =
            List.of(
                    new Change(
                            "backbone",
                            b -> b.backbone("resnet", s -> s.set("depth", 18)),
                            "model.backbone.type=resnet",
                            "model.backbone.depth=18"),
                    new Change(
                            "neck",
                            b -> b.neck("fpn", s -> s.set("out_channels", 64)),
                            "model.neck.type=fpn",
                            "model.neck.out_channels=64"),
                    new Change(
                            "head",
                            b -> b.head("atss", s -> s.set("feat_channels", 64)),
                            "model.head.type=atss",
                            "model.head.feat_channels=64"),
                    new Change(
                            "dataRoot", b -> b.dataRoot(Path.of("data", "x")), "data.root=data/x"),
                    new Change(
                            "train",
                            b -> b.train("coco", s -> s.set("annotations", Path.of("a.json"))),
                            "data.train.type=coco",
                            "data.train.annotations=a.json"),
                    new Change(
                            "val",
                            b -> b.val("coco", s -> s.set("images", "i")),
                            "data.val.type=coco",
                            "data.val.images=i"),
                    new Change(
                            "imageSize", b -> b.imageSize(640, 480), "data.image_size=[640, 480]"),
                    new Change("cropSize", b -> b.cropSize(64, 32), "data.crop_size=[64, 32]"),
                    new Change(
                            "trainTransforms",
                            b -> b.trainTransforms(List.of()),
                            "data.train_transforms=[]"),
                    new Change(
                            "valTransforms",
                            b -> b.valTransforms(List.of()),
                            "data.val_transforms=[]"),
                    new Change("batchSize", b -> b.batchSize(3), "data.batch_size=3"),
                    new Change("workers", b -> b.workers(7), "data.workers=7"),
                    new Change(
                            "optimizer",
                            b -> b.optimizer("adamw", s -> s.set("learning_rate", 1e-4)),
                            "optimizer.type=adamw",
                            "optimizer.learning_rate=1e-4"),
                    new Change(
                            "learningRate", b -> b.learningRate(.3), "optimizer.learning_rate=.3"),
                    new Change("weightDecay", b -> b.weightDecay(.2), "optimizer.weight_decay=.2"),
                    new Change(
                            "schedule",
                            b -> b.schedule("poly", s -> s.set("power", 0.8)),
                            "schedule.type=poly",
                            "schedule.power=0.8"),
                    new Change("epochs", b -> b.epochs(77), "epochs=77"),
                    new Change("iterations", b -> b.iterations(900), "iterations=900"),
                    new Change("accumulation", b -> b.accumulation(2), "accumulation=2"),
                    new Change("maxGradientNorm", b -> b.maxGradientNorm(3), "max_gradient_norm=3"),
                    new Change("referenceBatch", b -> b.referenceBatch(9), "reference_batch=9"),
                    new Change("seed", b -> b.seed(5), "seed=5"),
                    new Change("device", b -> b.device("cpu"), "device=cpu"),
                    new Change(
                            "precision",
                            b -> b.precision(Precision.BFLOAT16),
                            "precision=bfloat16"),
                    new Change("initFrom", b -> b.initFrom("none"), "init_from=none"),
                    new Change("stemInit", b -> b.stemInit(StemInit.MEAN), "stem_init=mean"),
                    new Change(
                            "pixels",
                            b -> b.pixels(PixelFormat.of(3, 0, 4095)),
                            "data.channels=3",
                            "data.range=[0.0, 4095.0]",
                            "data.extra_files=[]",
                            "data.display=[]"),
                    new Change(
                            "evaluateEvery",
                            b -> b.evaluateEvery(Interval.ofIterations(50)),
                            "evaluation.every={iterations: 50}"),
                    new Change("monitor", b -> b.monitor("AP50"), "evaluation.monitor=AP50"),
                    new Change("patience", b -> b.patience(4), "evaluation.patience=4"),
                    new Change(
                            "evaluators", b -> b.evaluators(List.of()), "evaluation.evaluators=[]"),
                    new Change(
                            "keepEvery",
                            b -> b.keepEvery(Interval.ofEpochs(2)),
                            "checkpoint.keep_every={epochs: 2}"),
                    new Change("logInterval", b -> b.logInterval(11), "log_interval=11"),
                    new Change("hooks", b -> b.hooks(List.of()), "hooks=[]"),
                    new Change(
                            "component",
                            b -> b.component("optimizer", "lamb", s -> {}),
                            "optimizer.type=lamb"),
                    new Change("set", b -> b.set("ema", null), "ema=null"),
                    new Change(
                            "model",
                            b -> b.model(RunConfig.recipe(RECIPE).model()),
                            "model=" + modelOf(RunConfig.recipe(RECIPE).toYaml())));

    private static String modelOf(String yaml) {
        return yaml.substring("model: ".length(), yaml.indexOf("\ndata:"));
    }

    static Collection<Recipe> recipes() {
        return Zoo.packaged().recipes();
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void everyRecipeIsTheSameAsTypesTextAndBuilder(Recipe recipe) {
        RunConfig config = Configs.bind(recipe.config(), RunConfig.class);
        assertEquals(config, config.toBuilder().build());
        assertEquals(config, RunConfig.parse(config.toYaml()));
        RunConfig typed =
                config.toBuilder()
                        .epochs(7)
                        .batchSize(3)
                        .learningRate(0.3)
                        .seed(4)
                        .train("coco", s -> s.set("annotations", "t.json"))
                        .set("data.num_last_epochs", 0)
                        .optimizer("adamw", s -> s.set("beta1", 0.8).set("weight_decay", 0.1))
                        .schedule("cosine", s -> {})
                        .build();
        RunConfig text =
                config.with(
                        "epochs=7",
                        "data.batch_size=3",
                        "optimizer.learning_rate=0.3",
                        "seed=4",
                        "data.train.type=coco",
                        "data.train.annotations=t.json",
                        "data.num_last_epochs=0",
                        "optimizer.type=adamw",
                        "optimizer.beta1=0.8",
                        "optimizer.weight_decay=0.1",
                        "schedule.type=cosine");
        assertEquals(text, typed);
        assertEquals(text.toYaml(), typed.toYaml());
    }

    @Test
    void everyMethodEqualsTheStringForm() {
        RunConfig config = RunConfig.recipe(RECIPE);
        for (Change change : CHANGES) {
            RunConfig typed = change.typed.apply(config.toBuilder()).build();
            RunConfig text = config.with(change.overrides.toArray(String[]::new));
            assertEquals(text, typed, change.method);
            assertEquals(text.toYaml(), typed.toYaml(), change.method);
        }
        Set<String> methods =
                Arrays.stream(RunConfigBuilder.class.getDeclaredMethods())
                        .filter(method -> method.getReturnType() == RunConfigBuilder.class)
                        .map(Method::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                methods,
                CHANGES.stream()
                        .map(Change::method)
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void acceptsRecordsAndAppliesCallsInOrder() {
        RunConfig config = RunConfig.recipe(RECIPE);
        RunConfig changed =
                config.toBuilder()
                        .optimizer("adamw", s -> s.set("learning_rate", 1e-4))
                        .optimizer("sgd", s -> {})
                        .val(config.data().requireTrain())
                        .set("data.train_transforms", config.data().valTransforms())
                        .set("data.train_transforms[0]", config.data().trainTransforms().get(1))
                        .set("max_gradient_norm", Optional.of(2))
                        .iterations(5)
                        .epochs(3)
                        .build();
        assertEquals(
                config.with("optimizer.type=adamw", "optimizer.type=sgd").optimizer(),
                changed.optimizer());
        assertEquals(config.data().train(), changed.data().val());
        assertTrue(changed.data().trainTransforms().get(0) instanceof RandomFlip);
        assertEquals(Optional.of(2.0), changed.maxGradientNorm());
        assertEquals(Optional.empty(), changed.iterations());
        assertEquals(3, changed.epochs());
    }

    @Test
    void suggestsSimilarRecipes() {
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> RunConfig.recipe("retinanet/resnet50_fpn_1x_coca"))
                        .getMessage();
        assertEquals(
                "unknown recipe retinanet/resnet50_fpn_1x_coca; did you mean " + RECIPE + "?",
                message);
    }

    @Test
    void reportsAllProblemsByTheirSettings() {
        RunConfigBuilder builder =
                RunConfig.recipe(RECIPE).toBuilder()
                        .batchSize(0)
                        .optimizer("adamx", o -> {})
                        .set("data.batch_sise", 4)
                        .set("model..head", 1)
                        .set("hooks[0].value", 1)
                        .set("log_interval", List.of(1).iterator())
                        .set("precision", "bf16");
        String message = assertThrows(SaccadeException.class, builder::build).getMessage();
        assertTrue(message.startsWith("config: 7 problems"), message);
        for (String part :
                List.of(
                        "settings: model..head: malformed setting; expected a path such as",
                        "settings: data.batch_size: got 0, expected at least 1",
                        "settings: data.batch_sise: unknown key; did you mean batch_size?",
                        "settings: optimizer.type: unknown type adamx; did you mean adamw?",
                        "settings: precision: got the string \"bf16\"",
                        "settings: log_interval: got an object of type java.util.",
                        "settings: hooks: got a map, expected a list")) {
            assertTrue(message.contains(part), message);
        }
        RunConfigBuilder pair =
                RunConfig.recipe(RECIPE).toBuilder()
                        .set("data.skip_type_keys", List.of("random_flip"))
                        .set("data.num_last_epochs", 5)
                        .build()
                        .toBuilder()
                        .epochs(3);
        assertEquals(
                "config: settings: data.num_last_epochs: got 5, expected at most epochs: 3",
                assertThrows(SaccadeException.class, pair::build).getMessage());
    }
}

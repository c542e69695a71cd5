package dev.saccade.train.config;

import dev.saccade.checkpoint.weights.StemInit;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.ModelConfig;
import dev.saccade.train.hooks.Hook;

import java.nio.file.Path;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Changes settings of a {@link RunConfig}.
 *
 * <pre>{@code
 * RunConfig config =
 *         RunConfig.recipe("mask_rcnn/swin_tiny_fpn_1x_coco").toBuilder()
 *                 .epochs(12)
 *                 .batchSize(4)
 *                 .optimizer("adamw", o -> o.set("learning_rate", 1e-4))
 *                 .set("model.head.mask_thr_binary", 0.4)
 *                 .build();
 * }</pre>
 *
 * <p>Changes apply in the order of the calls and are checked by {@link #build}. Methods with a
 * {@code type} keep the other settings of a component of this type, and otherwise use the defaults
 * of the type.
 */
public final class RunConfigBuilder {

    /** Settings of one component. */
    @FunctionalInterface
    public interface Section {

        /** Changes a setting, such as {@code learning_rate}; see {@link RunConfigBuilder#set}. */
        Section set(String key, Object value);
    }

    private final RunConfig base;
    private final List<Map.Entry<String, Object>> settings = new ArrayList<>();

    RunConfigBuilder(RunConfig base) {
        this.base = base;
    }

    /**
     * Changes any setting.
     *
     * @param path as in YAML, such as {@code data.train_transforms[0].divisor}
     * @param value a number, string, boolean, path, enum, list, map, {@code Optional} or record;
     *     null for an optional setting without a value
     */
    public RunConfigBuilder set(String path, Object value) {
        settings.add(new SimpleImmutableEntry<>(path, value));
        return this;
    }

    /**
     * Changes a component at any path, such as {@code schedule.warmup} or {@code
     * model.auxiliary_head}.
     */
    public RunConfigBuilder component(String path, String type, Consumer<Section> changes) {
        set(path + ".type", type);
        changes.accept(section(path));
        return this;
    }

    private Section section(String path) {
        return new Section() {
            @Override
            public Section set(String key, Object value) {
                RunConfigBuilder.this.set(path + "." + key, value);
                return this;
            }
        };
    }

    public RunConfigBuilder model(ModelConfig model) {
        return set("model", model);
    }

    public RunConfigBuilder backbone(String type, Consumer<Section> changes) {
        return component("model.backbone", type, changes);
    }

    public RunConfigBuilder neck(String type, Consumer<Section> changes) {
        return component("model.neck", type, changes);
    }

    public RunConfigBuilder head(String type, Consumer<Section> changes) {
        return component("model.head", type, changes);
    }

    /** Sets the folder that the paths of data sets are relative to. */
    public RunConfigBuilder dataRoot(Path root) {
        return set("data.root", root);
    }

    public RunConfigBuilder train(Dataset.Config dataset) {
        return set("data.train", dataset);
    }

    /** Sets the training set, such as {@code coco} with {@code annotations} and {@code images}. */
    public RunConfigBuilder train(String type, Consumer<Section> changes) {
        return component("data.train", type, changes);
    }

    public RunConfigBuilder val(Dataset.Config dataset) {
        return set("data.val", dataset);
    }

    public RunConfigBuilder val(String type, Consumer<Section> changes) {
        return component("data.val", type, changes);
    }

    /** Sets the size that images are resized to, in pixels. */
    public RunConfigBuilder imageSize(int longEdge, int shortEdge) {
        return set("data.image_size", List.of(longEdge, shortEdge));
    }

    /** Sets the size of training crops in pixels. */
    public RunConfigBuilder cropSize(int height, int width) {
        return set("data.crop_size", List.of(height, width));
    }

    public RunConfigBuilder trainTransforms(List<Transform> transforms) {
        return set("data.train_transforms", transforms);
    }

    public RunConfigBuilder valTransforms(List<Transform> transforms) {
        return set("data.val_transforms", transforms);
    }

    /** Sets the images per forward pass and rank. */
    public RunConfigBuilder batchSize(int images) {
        return set("data.batch_size", images);
    }

    /** Sets the threads that read images ahead. */
    public RunConfigBuilder workers(int threads) {
        return set("data.workers", threads);
    }

    public RunConfigBuilder optimizer(String type, Consumer<Section> changes) {
        return component("optimizer", type, changes);
    }

    public RunConfigBuilder learningRate(double rate) {
        return set("optimizer.learning_rate", rate);
    }

    public RunConfigBuilder weightDecay(double decay) {
        return set("optimizer.weight_decay", decay);
    }

    public RunConfigBuilder schedule(String type, Consumer<Section> changes) {
        return component("schedule", type, changes);
    }

    /** Sets the length of the run, replacing {@link #iterations}. */
    public RunConfigBuilder epochs(int epochs) {
        return set("epochs", epochs);
    }

    /** Sets the length of the run in optimizer steps, replacing {@link #epochs}. */
    public RunConfigBuilder iterations(long steps) {
        return set("iterations", steps);
    }

    /** Sets the batches per optimizer step. */
    public RunConfigBuilder accumulation(int batches) {
        return set("accumulation", batches);
    }

    public RunConfigBuilder maxGradientNorm(double norm) {
        return set("max_gradient_norm", norm);
    }

    /** Sets the images per step that the learning rate is meant for; see {@link RunConfig}. */
    public RunConfigBuilder referenceBatch(int images) {
        return set("reference_batch", images);
    }

    public RunConfigBuilder seed(long seed) {
        return set("seed", seed);
    }

    /** Sets {@code auto}, {@code cpu}, {@code cuda} or a GPU such as {@code cuda:1}. */
    public RunConfigBuilder device(String name) {
        return set("device", name);
    }

    public RunConfigBuilder precision(Precision precision) {
        return set("precision", precision);
    }

    /** Sets a checkpoint or the name of published weights; {@code none} trains from scratch. */
    public RunConfigBuilder initFrom(String weights) {
        return set("init_from", weights);
    }

    public RunConfigBuilder stemInit(StemInit rule) {
        return set("stem_init", rule);
    }

    /** Sets the number of channels, and the stored values that are mapped to 0 and 255. */
    public RunConfigBuilder pixels(PixelFormat format) {
        return set("data.channels", format.channels())
                .set("data.range", format.range())
                .set("data.extra_files", format.extraFiles())
                .set("data.display", format.display());
    }

    public RunConfigBuilder evaluateEvery(Interval interval) {
        return set("evaluation.every", interval);
    }

    /** Sets the metric that selects the best checkpoint, such as {@code mask_AP}. */
    public RunConfigBuilder monitor(String metric) {
        return set("evaluation.monitor", metric);
    }

    /** Stops the run after this number of evaluations without a new best. */
    public RunConfigBuilder patience(int evaluations) {
        return set("evaluation.patience", evaluations);
    }

    public RunConfigBuilder evaluators(List<Evaluator.Config> evaluators) {
        return set("evaluation.evaluators", evaluators);
    }

    /** Keeps the weights of each interval. */
    public RunConfigBuilder keepEvery(Interval interval) {
        return set("checkpoint.keep_every", interval);
    }

    public RunConfigBuilder logInterval(int steps) {
        return set("log_interval", steps);
    }

    public RunConfigBuilder hooks(List<Hook.Config> hooks) {
        return set("hooks", hooks);
    }

    /**
     * Returns the config with all changes.
     *
     * @throws SaccadeException of kind user that lists every unknown setting, unknown component and
     *     invalid value
     */
    public RunConfig build() {
        return Configs.with(base, settings);
    }
}

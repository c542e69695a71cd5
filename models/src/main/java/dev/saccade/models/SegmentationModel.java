package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.segmentation.MeanOfViews;
import dev.saccade.models.segmentation.ScoreMap;
import dev.saccade.models.segmentation.ScoreMaps;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Backbone, perhaps a neck, and one or two heads as one: images to losses in training, to the class
 * of every pixel in inference.
 *
 * <p>Parameters are named as in mmsegmentation's checkpoints: {@code backbone.*}, {@code neck.*},
 * {@code decode_head.*} and {@code auxiliary_head.*}.
 */
public final class SegmentationModel extends Model<LabelMap> {

    private final SegmentationHead decodeHead;
    private final Optional<SegmentationHead> auxiliaryHead;

    /**
     * Makes a segmenter without weights.
     *
     * @param config its parts; the head is one of segmentation
     * @param classes the names of the labels, in order
     * @throws SaccadeException of kind user that names the part, if one does not fit the one before
     */
    public SegmentationModel(ModelConfig config, List<String> classes) {
        super(config, classes);
        decodeHead = add("decode_head", head("head", config.head()));
        auxiliaryHead =
                config.auxiliaryHead()
                        .map(part -> head("auxiliary_head", part))
                        .map(built -> add("auxiliary_head", built));
    }

    private SegmentationHead head(String key, HeadConfig config) {
        SegmentationHead.Config part = (SegmentationHead.Config) config;
        return built(key, () -> part.build(levels(), classes().size()));
    }

    /** Returns the head that predicts. */
    public SegmentationHead decodeHead() {
        return decodeHead;
    }

    /** Returns the head that only teaches, if there is one. */
    public Optional<SegmentationHead> auxiliaryHead() {
        return auxiliaryHead;
    }

    /**
     * Returns the scores before softmax.
     *
     * @param pixels {@code [N, 3, H, W]}
     * @return {@code [N, K, h, w]}, usually at the stride of the finest level
     */
    public NDArray logits(NDArray pixels) {
        return Scope.array(() -> decodeHead.logits(features(pixels)));
    }

    @Override
    public Class<LabelMap> predictionType() {
        return LabelMap.class;
    }

    @Override
    public <R> R match(
            Function<? super DetectionModel, R> detection,
            Function<? super SegmentationModel, R> segmentation) {
        return segmentation.apply(this);
    }

    @Override
    public Losses losses(Batch batch, NDManager manager) {
        return losses(batch.to(manager), batch.labels(manager));
    }

    /**
     * Returns the training losses of a batch: those of the head under {@code decode.}, of the
     * auxiliary one under {@code aux.}.
     *
     * @param batch normalized images
     * @param labels {@code [N, H, W]} int64, the class of every pixel of the batch, or {@link
     *     LabelMap#IGNORE} as in the padding
     */
    public Losses losses(ImageBatch batch, NDArray labels) {
        return Scope.losses(() -> losses(features(batch.pixels()), labels));
    }

    private Losses losses(FeaturePyramid pyramid, NDArray labels) {
        ImmutableMap.Builder<String, NDArray> terms = ImmutableMap.builder();
        ImmutableMap.Builder<String, NDArray> metrics = ImmutableMap.builder();
        Map<String, SegmentationHead> heads = new LinkedHashMap<>();
        heads.put("decode.", decodeHead);
        auxiliaryHead.ifPresent(head -> heads.put("aux.", head));
        heads.forEach(
                (prefix, head) -> {
                    Losses losses = head.losses(pyramid, labels);
                    losses.terms().forEach((name, term) -> terms.put(prefix + name, term));
                    losses.metrics().forEach((name, x) -> metrics.put(prefix + name, x));
                });
        return new Losses(terms.buildOrThrow(), metrics.buildOrThrow());
    }

    /**
     * Returns the class of every pixel of each image, at its original size.
     *
     * <p>As in mmsegmentation, each image goes through the network alone and without its padding,
     * so its prediction does not depend on the others of the batch.
     */
    @Override
    List<LabelMap> inference(ImageBatch batch) {
        return inference(batch, this::logits);
    }

    @Override
    LabelMap inferenceOfViews(List<ImageBatch> views) {
        List<ScoreMap> maps = new ArrayList<>();
        for (ImageBatch view : views) {
            checkArgument(view.size() == 1, "views of %s images", view.size());
            maps.add(scores(view, 0, this::logits));
        }
        return labels(maps);
    }

    /**
     * Returns the class of every pixel of each image as {@link #predict} does, from logits that
     * another program computes.
     *
     * @param network {@code [1, 3, H, W]} to {@code [1, K, h, w]}
     */
    public List<LabelMap> predict(ImageBatch batch, UnaryOperator<NDArray> network) {
        return withoutGradients(() -> inference(batch, network));
    }

    private List<LabelMap> inference(ImageBatch batch, UnaryOperator<NDArray> network) {
        ImmutableList.Builder<LabelMap> labels = ImmutableList.builder();
        for (int n = 0; n < batch.size(); n++) {
            labels.add(labels(List.of(scores(batch, n, network))));
        }
        return labels.build();
    }

    private static LabelMap labels(List<ScoreMap> views) {
        try (MeanOfViews mean = new MeanOfViews(views)) {
            return mean.labels();
        }
    }

    /** Returns the scores of an image of a batch, upright and at its original size. */
    private ScoreMap scores(ImageBatch batch, int n, UnaryOperator<NDArray> network) {
        ImageInfo image = batch.images().get(n);
        Size size = image.size();
        String part = n + ":" + (n + 1) + ", :, :" + size.height() + ", :" + size.width();
        ScoreMap scores = scores(batch.pixels().get(part), image.original(), network);
        return image.flipped() ? scores.flipHorizontally() : scores;
    }

    /**
     * Returns the scores of an image at a size, computed without gradients; windows are computed
     * when a part under them is read. The segmenter must be in inference mode.
     *
     * @param pixels {@code [1, 3, H, W]}, freed with the scores
     * @param original the size that is wanted
     */
    public ScoreMap scores(NDArray pixels, Size original) {
        return scores(pixels, original, x -> NoGrad.call(() -> logits(x)));
    }

    private ScoreMap scores(NDArray pixels, Size original, UnaryOperator<NDArray> network) {
        ScoreMaps maps = new ScoreMaps(network, decodeHead.alignsCorners());
        return config().slidingWindow()
                .map(window -> maps.sliding(pixels, window, classes().size(), original))
                .orElseGet(() -> maps.whole(pixels, original));
    }

    @Override
    public Map<String, Integer> dummyObjects() {
        return Map.of();
    }

    @Override
    void forwardDummy(NDArray pixels) {
        logits(pixels);
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(logits(inputs.singletonOrThrow()));
    }
}

package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.InputLayers;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.segmentation.MeanScoreMap;
import dev.saccade.models.segmentation.ScoreMap;
import dev.saccade.models.segmentation.SegmentationInference;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Backbone, optional neck, decode head and optional auxiliary head. Parameters have
 * mmsegmentation's names: {@code backbone.*}, {@code neck.*}, {@code decode_head.*} and {@code
 * auxiliary_head.*}.
 */
public final class SegmentationModel extends Model<LabelMap> {

    private final SegmentationHead decodeHead;
    private final Optional<SegmentationHead> auxiliaryHead;

    /**
     * Creates a segmenter without weights.
     *
     * @throws SaccadeException of kind user, if a component does not fit the previous one
     */
    public SegmentationModel(ModelConfig config, List<String> classes) {
        this(config, classes, InputLayers.RGB);
    }

    /** Creates a model of images with any number of channels, without weights. */
    public SegmentationModel(ModelConfig config, List<String> classes, int inChannels) {
        super(config, classes, inChannels);
        decodeHead = add("decode_head", head("head", config.head()));
        auxiliaryHead =
                config.auxiliaryHead()
                        .map(part -> head("auxiliary_head", part))
                        .map(built -> add("auxiliary_head", built));
    }

    private SegmentationHead head(String key, HeadConfig config) {
        SegmentationHead.Config part = (SegmentationHead.Config) config;
        return buildComponent(key, () -> part.build(levels(), classes().size()));
    }

    public SegmentationHead decodeHead() {
        return decodeHead;
    }

    /** Returns the head that is used only in training. */
    public Optional<SegmentationHead> auxiliaryHead() {
        return auxiliaryHead;
    }

    /** Returns logits {@code [N, K, h, w]} for pixels {@code [N, 3, H, W]}. */
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
            Function<? super SegmentationModel, R> segmentation,
            Function<? super ClassificationModel, R> classification) {
        return segmentation.apply(this);
    }

    @Override
    public Losses losses(Batch batch, NDManager manager) {
        return losses(batch.to(manager), batch.labels(manager));
    }

    /**
     * Returns the training losses, prefixed with {@code decode.} and {@code aux.}.
     *
     * @param labels {@code [N, H, W]} int64, class index of every pixel, or {@link
     *     LabelMap#IGNORE}, which also fills the padding
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
     * Predicts each image alone and without padding, so results do not depend on the batch; as in
     * mmsegmentation.
     */
    @Override
    List<LabelMap> inference(ImageBatch batch) {
        return inference(batch, this::logits);
    }

    @Override
    LabelMap inferenceAugmented(List<ImageBatch> batches) {
        List<ScoreMap> maps = new ArrayList<>();
        for (ImageBatch batch : batches) {
            checkArgument(batch.size() == 1, "batch: got %s images, expected 1", batch.size());
            maps.add(scores(batch, 0, this::logits));
        }
        return labels(maps);
    }

    /** Predicts with another runtime; {@code network} returns logits {@code [1, K, h, w]}. */
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

    private static LabelMap labels(List<ScoreMap> maps) {
        try (MeanScoreMap mean = new MeanScoreMap(maps)) {
            return mean.labels();
        }
    }

    /** Returns the scores of image {@code n} in a batch, unflipped and at original size. */
    private ScoreMap scores(ImageBatch batch, int n, UnaryOperator<NDArray> network) {
        ImageInfo image = batch.images().get(n);
        Size size = image.size();
        String part = n + ":" + (n + 1) + ", :, :" + size.height() + ", :" + size.width();
        ScoreMap scores = scores(batch.pixels().get(part), image.original(), network);
        return image.flipped() ? scores.flipHorizontally() : scores;
    }

    /**
     * Returns the scores of pixels {@code [1, 3, H, W]} at the original size, without gradients.
     * Closes the pixels; with sliding windows, which are computed on access, when the result is
     * closed. The model must be in inference mode.
     */
    public ScoreMap scores(NDArray pixels, Size original) {
        return scores(pixels, original, x -> NoGrad.call(() -> logits(x)));
    }

    private ScoreMap scores(NDArray pixels, Size original, UnaryOperator<NDArray> network) {
        SegmentationInference maps = new SegmentationInference(network, decodeHead.alignsCorners());
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

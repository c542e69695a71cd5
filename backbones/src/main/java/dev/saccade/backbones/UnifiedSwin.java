package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.backbones.FilterNorm.Activation;
import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.FilterRegion;
import dev.saccade.core.ops.attention.NeighborRegion;
import dev.saccade.core.ops.attention.WindowRegion;

import java.util.List;
import java.util.Optional;

/**
 * Swin Transformer with the unified form of self-attention, depth-wise convolution and dynamic
 * filters (Zhou et al. 2021, ELSA, Eq. 4): {@code f_i = sum_j Norm(q_i k_j + q_i rk_(j-i) +
 * rq_(j-i) k_j + rb_(j-i)) v_j}. Nets 1 to 7 use different terms.
 *
 * <p>No code was published. Choices where the paper is silent: tables are per head; the first three
 * terms are scaled by {@code 1 / sqrt(d)}; neighborhoods are zero-padded, and softmax includes the
 * padding; in shifted windows, masked keys get -100 in a softmax and are excluded otherwise; of
 * query, key and value, only those used are projected, in this order.
 *
 * <p>{@code net7_filter_norm} and {@code net7_identity} are rows of Table 2 (the latter diverged in
 * the paper). The {@code _neighbor} variants are the rows "Neighboring" of Table 3, for {@code
 * net7_neighbor} the row with unfold instead of SDC.
 */
public final class UnifiedSwin extends SwinFamily {

    /** Keys that a query attends to. */
    public enum Region {
        /** Windows in all stages, shifted in every other block. */
        WINDOW,
        /** The tokens around the query; windows in the last stage. */
        NEIGHBOR
    }

    /** Normalization of the summed terms. */
    public enum Norm {
        SOFTMAX,
        /** Zero mean and unit variance over the keys, then a learned gain and bias per key. */
        FILTER_NORM,
        IDENTITY
    }

    /**
     * Settings of a unified Swin Transformer.
     *
     * @param variant row of Tables 1 to 3
     * @param qk whether to use the term {@code q_i k_j}
     * @param qRk whether to use the term {@code q_i rk_(j-i)}
     * @param rqK whether to use the term {@code rq_(j-i) k_j}
     * @param rb whether to use the term {@code rb_(j-i)}
     * @param kernelSize neighborhood size, odd
     */
    @Component("unified_swin")
    @Variant(name = "swin", settings = "q_rk: false, rq_k: false")
    @Variant(name = "net1", settings = "q_rk: false, rq_k: false, rb: false")
    @Variant(name = "net2", settings = "qk: false, rq_k: false, rb: false")
    @Variant(name = "net3", settings = "qk: false, q_rk: false, rb: false")
    @Variant(name = "net4", settings = "qk: false, q_rk: false, rq_k: false")
    @Variant(name = "net5", settings = "qk: false, rb: false")
    @Variant(name = "net6", settings = "qk: false")
    @Variant(name = "net7")
    @Variant(name = "net7_filter_norm", settings = "norm: filter_norm")
    @Variant(name = "net7_identity", settings = "norm: identity")
    @Variant(name = "swin_neighbor", settings = "q_rk: false, rq_k: false, region: neighbor")
    @Variant(name = "net6_neighbor", settings = "qk: false, region: neighbor")
    @Variant(name = "net7_neighbor", settings = "region: neighbor")
    public record Config(
            @Default("net7") String variant,
            @Default("96") int embedDim,
            @Default("[3, 6, 12, 24]") List<Integer> numHeads,
            @Default("true") boolean qk,
            @Default("true") boolean qRk,
            @Default("true") boolean rqK,
            @Default("true") boolean rb,
            @Default("softmax") Norm norm,
            @Default("window") Region region,
            @Default("7") int windowSize,
            @Default("7") int kernelSize,
            @Default("4") double mlpRatio,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            numHeads = ImmutableList.copyOf(numHeads);
            checks(embedDim, numHeads, mlpRatio)
                    .inRange("window_size", windowSize, 1, 128)
                    .inRange("kernel_size", kernelSize, 1, 71)
                    .throwIfAny();
            checkHeads(numHeads, embedDim, windowSize);
            Checks.require(kernelSize % 2 == 1, "kernel_size", kernelSize, "an odd number");
            Checks.require(
                    qk || qRk || rqK || rb, "qk, q_rk, rq_k, rb", "none", "at least one of them");
        }

        @Override
        public CheckpointRules checkpointRules() {
            return ElsaCheckpoints.RULES;
        }

        @Override
        public UnifiedSwin build() {
            return new UnifiedSwin(this);
        }

        private FilterRegion region(int stage, int block) {
            return region == Region.NEIGHBOR && stage < STAGES - 1
                    ? new NeighborRegion(kernelSize)
                    : new WindowRegion(windowSize, block % 2 == 0 ? 0 : windowSize / 2);
        }

        private FilterNorm norm(int keys) {
            return switch (norm) {
                case SOFTMAX -> new FilterNorm(Activation.SOFTMAX);
                case FILTER_NORM -> new FilterNorm(keys, Activation.IDENTITY);
                case IDENTITY -> new FilterNorm(Activation.IDENTITY);
            };
        }
    }

    public UnifiedSwin(Config config) {
        super(config);
        addBlocks(
                config,
                (stage, block) ->
                        new Attention(
                                config,
                                config.channels(stage),
                                config.numHeads().get(stage),
                                config.region(stage, block)));
        addOutputNormsAndFreeze();
    }

    /** Attention of Eq. 4. */
    static final class Attention extends Layer {

        private final FilterRegion region;
        private final int heads;
        private final int parts;
        private final float scale;
        private final boolean qk;
        private final Optional<Parameter> rk;
        private final Optional<Parameter> rq;
        private final Optional<Parameter> rb;
        private final FilterNorm norm;
        private final Linear qkv;
        private final Linear proj;

        Attention(Config config, int channels, int heads, FilterRegion region) {
            this.region = region;
            this.heads = heads;
            int headDim = channels / heads;
            scale = (float) Math.pow(headDim, -0.5);
            qk = config.qk();
            int queries = qk || config.qRk() ? 1 : 0;
            int keys = qk || config.rqK() ? 1 : 0;
            parts = queries + keys + 1;
            Shape embeddings = new Shape(heads, headDim, region.offsets());
            rk = table(config.qRk(), "rk", embeddings);
            rq = table(config.rqK(), "rq", embeddings);
            rb = table(config.rb(), "rb", new Shape(heads, region.offsets()));
            norm = add("norm", config.norm(region.keys()));
            qkv = add("qkv", new Linear(channels, parts * channels));
            proj = add("proj", new Linear(channels, channels));
        }

        private Optional<Parameter> table(boolean enabled, String name, Shape shape) {
            return when(enabled, () -> parameter(name, shape, WeightInit.truncatedNormal(0.02)));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray mapped = qkv.apply(region.arrange(x));
            List<NDArray> qkv = region.split(mapped, parts, heads);
            Optional<NDArray> unseen = region.mask(mapped);
            NDArray filters = norm.forward(values(qkv), unseen);
            return proj.apply(region.apply(filters, qkv.get(parts - 1), x.getShape()));
        }

        /** Returns the sum of the terms of Eq. 4; {@code qkv} has q, k (if they are used) and v. */
        private NDArray values(List<NDArray> qkv) {
            NDArray q = qkv.get(0);
            NDArray k = qkv.get(Math.max(0, parts - 2));
            NDArray v = qkv.get(parts - 1);
            NDArray sum = qk ? region.products(scaled(q), k) : region.zeros(v);
            rk.ifPresent(table -> sum.addi(region.ofQueries(q, scaled(table.getArray()))));
            rq.ifPresent(table -> sum.addi(region.ofKeys(k, scaled(table.getArray()))));
            rb.ifPresent(table -> sum.addi(region.ofOffsets(table.getArray())));
            return sum;
        }

        private NDArray scaled(NDArray x) {
            return x.mul(Tensors.of(x.getManager(), scale));
        }
    }
}

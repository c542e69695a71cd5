package dev.saccade.necks;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Neck;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * Dynamic head (Dai et al. 2021) as in mmdetection: blocks that attend over levels, over cells and
 * over channels of a pyramid such as that of an FPN. It keeps the levels.
 *
 * <p>Of a level that has more than twice the rows or columns of the next one, that one does not see
 * the last of them.
 */
public final class DyHead extends Neck {

    /**
     * The hyper-parameters of a dynamic head.
     *
     * @param outChannels channels of every level, a multiple of 16
     * @param numBlocks number of blocks
     * @param zeroInitOffset whether the deformable convolutions look at no moved cells at first;
     *     not so in the authors' code
     */
    @Part("dyhead")
    public record Config(
            @Default("256") int outChannels,
            @Default("6") int numBlocks,
            @Default("true") boolean zeroInitOffset)
            implements Neck.Config {

        public Config {
            new Checks()
                    .within("out_channels", outChannels, DyHeadBlock.GROUPS, 8192)
                    .within("num_blocks", numBlocks, 1, 100)
                    .throwIfAny();
            Checks.require(
                    outChannels % DyHeadBlock.GROUPS == 0,
                    "out_channels",
                    outChannels,
                    "a multiple of %s",
                    DyHeadBlock.GROUPS);
        }

        @Override
        public DyHead build(List<FeatureInfo> features) {
            return new DyHead(this, features);
        }
    }

    private final List<FeatureInfo> features;
    private final List<DyHeadBlock> blocks = new ArrayList<>();

    /**
     * Makes a dynamic head without weights.
     *
     * @throws IllegalArgumentException if the levels differ in channels, or one has not twice the
     *     stride of the one before
     */
    public DyHead(Config config, List<FeatureInfo> inputs) {
        for (int l = 1; l < inputs.size(); l++) {
            FeatureInfo before = inputs.get(l - 1);
            FeatureInfo level = inputs.get(l);
            Checks.require(
                    level.channels() == before.channels() && level.stride() == 2 * before.stride(),
                    "type",
                    "dyhead behind levels of "
                            + inputs.stream().map(FeatureInfo::channels).toList()
                            + " channels and strides of "
                            + inputs.stream().map(FeatureInfo::stride).toList(),
                    "levels of as many channels, each of twice the stride of the one before, such"
                            + " as those of an fpn: {type: sequential, necks: [{type: fpn},"
                            + " {type: dyhead}]}");
        }
        int in = inputs.get(0).channels();
        int out = config.outChannels();
        for (int i = 0; i < config.numBlocks(); i++) {
            DyHeadBlock block = new DyHeadBlock(i == 0 ? in : out, out, config.zeroInitOffset());
            blocks.add(add("dyhead_blocks." + i, block));
        }
        features = inputs.stream().map(level -> new FeatureInfo(out, level.stride())).toList();
    }

    @Override
    public List<FeatureInfo> features() {
        return features;
    }

    @Override
    protected FeaturePyramid forward(FeaturePyramid inputs) {
        FeaturePyramid pyramid = inputs;
        for (DyHeadBlock block : blocks) {
            pyramid = block.apply(pyramid);
        }
        return pyramid;
    }
}

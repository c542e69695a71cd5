package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.necks.DyHead;
import dev.saccade.necks.Fpn;
import dev.saccade.necks.SequentialNeck;

import org.opentest4j.TestAbortedException;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Outputs and gradients of a neck. */
final class NeckKind implements Kind {

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        List<FeatureInfo> features = new ArrayList<>();
        Map<String, NDArray> inputs = new LinkedHashMap<>();
        for (int channels : config.integers("in_channels")) {
            String name = "x" + features.size();
            features.add(new FeatureInfo(channels, 4 << features.size()));
            inputs.put(name, recorded.tensor(name));
        }
        Neck neck = config(recorded.settings().text("cls"), config).build(features);
        RecordedWeights.load(recorded, neck);
        neck.train(false);
        FeaturePyramid pyramid = new FeaturePyramid(List.copyOf(inputs.values()));
        Backward.compare(recorded, inputs, neck, () -> neck.apply(pyramid).levels());
    }

    /** Returns the neck of a model, or several necks in sequence. */
    static Neck.Config config(Settings model) {
        List<Neck.Config> necks = new ArrayList<>();
        for (Settings neck : model.objects("neck")) {
            necks.add(config(neck.text("type"), neck));
        }
        for (int i = 1; i < necks.size(); i++) {
            Settings before = model.objects("neck").get(i - 1);
            model.objects("neck").get(i).only("in_channels", before.integer("out_channels"));
        }
        return necks.size() == 1 ? necks.get(0) : new SequentialNeck.Config(necks);
    }

    /** Returns the neck for mmdetection's class and settings without {@code in_channels}. */
    static Neck.Config config(String cls, Settings config) {
        return switch (cls) {
            case "FPN" -> fpn(config);
            case "DyHead" ->
                    new DyHead.Config(
                            config.integer("out_channels"),
                            config.integer("num_blocks", 6),
                            config.flag("zero_init_offset", true));
            default -> throw new TestAbortedException("nothing is built for the neck " + cls);
        };
    }

    private static Fpn.Config fpn(Settings config) {
        config.only("end_level", -1);
        config.only("no_norm_on_lateral", false);
        return new Fpn.Config(
                config.integer("out_channels"),
                config.integer("start_level", 0),
                config.integer("num_outs"),
                extraConvs(config),
                config.flag("relu_before_extra_convs", false),
                Norm.NONE);
    }

    private static Fpn.ExtraConvs extraConvs(Settings config) {
        if (!config.has("add_extra_convs")) {
            return Fpn.ExtraConvs.NONE;
        }
        if (config.json("add_extra_convs").isBoolean()) {
            return config.flag("add_extra_convs") ? Fpn.ExtraConvs.ON_INPUT : Fpn.ExtraConvs.NONE;
        }
        String source = config.text("add_extra_convs");
        return switch (source) {
            case "on_input" -> Fpn.ExtraConvs.ON_INPUT;
            case "on_lateral" -> Fpn.ExtraConvs.ON_LATERAL;
            case "on_output" -> Fpn.ExtraConvs.ON_OUTPUT;
            default ->
                    throw config.refused(
                            "add_extra_convs", "expected on_input, on_lateral or on_output");
        };
    }
}

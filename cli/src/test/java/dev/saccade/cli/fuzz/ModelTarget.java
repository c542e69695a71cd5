package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.models.ModelSpec;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What checkpoints say of their models: it is refused, or a model can be built of it. */
final class ModelTarget implements FuzzTarget {

    @Override
    public String name() {
        return "models";
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (String recipe :
                List.of(
                        "retinanet/resnet18_fpn_1x_coco.yaml",
                        "cascade_mask_rcnn/swin_tiny_fpn_1x_coco.yaml",
                        "semantic_fpn/pvt_tiny_40k_ade20k.yaml",
                        "upernet/focal_tiny_160k_ade20k.yaml")) {
            seeds.add(description(ConfigFile.packaged(recipe)));
        }
        return seeds;
    }

    private static byte[] description(ConfigNode.Mapping recipe) {
        ConfigNode.Mapping data = (ConfigNode.Mapping) recipe.get("data").orElseThrow();
        Map<String, ConfigNode> parts = new LinkedHashMap<>();
        parts.put("model", recipe.get("model").orElseThrow());
        parts.put("transforms", data.get("val_transforms").orElseThrow());
        data.get("tta").ifPresent(tta -> parts.put("tta", tta));
        parts.put("classes", ConfigFile.parse("names: [cat, dog]", "").get("names").orElseThrow());
        return Texts.bytes(ConfigWriter.yaml(new ConfigNode.Mapping(parts, recipe.origin())));
    }

    @Override
    public List<byte[]> words() {
        return Texts.split(
                "type: |variant: |depth: |stacked_convs: |out_channels: |"
                        + "num_outs: |tta: {a: {flip: true}}|val_tta: |ratios: [|divisor: |scales: [[|"
                        + "sliding_window: {|resnet|pvt|elsa_swin|linglo|dwnet|fpn|mask_rcnn|"
                        + "fcn|resize|normalize|pad");
    }

    @Override
    public void enter(byte[] input) {
        ConfigNode.Mapping tree = ConfigFile.parse(Texts.of(input), "description");
        ModelSpec spec = Configs.bind(tree, ModelSpec.class);
        assertEquals(spec, ModelSpec.fromMetadata(spec.toMetadata(), "written"));
        assertTrue(spec.model().build(spec.classes()).parameterCount() >= 0);
    }

    @Override
    public long allowance(byte[] input) {
        return 128L << 20;
    }
}

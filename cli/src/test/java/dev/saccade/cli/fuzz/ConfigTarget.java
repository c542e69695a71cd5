package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Configs, as texts and as settings over one of them. Trees and runs are the same when they are
 * written and read again.
 */
record ConfigTarget(String name, List<byte[]> seeds, Function<String, ConfigNode.Mapping> reader)
        implements FuzzTarget {

    static ConfigTarget ofTexts() {
        List<byte[]> seeds = new ArrayList<>();
        for (String recipe :
                List.of(
                        "retinanet/resnet18_fpn_demo.yaml",
                        "mask_rcnn/swin_tiny_fpn_1x_coco.yaml",
                        "semantic_fpn/pvt_tiny_40k_ade20k.yaml")) {
            seeds.add(Texts.bytes(ConfigWriter.yaml(ConfigFile.packaged(recipe))));
        }
        seeds.addAll(
                Texts.all(
                        """
                        # every form that YAML has
                        a: &x {b: [1, -2.5e3, .inf, 0x1F, 0o17, ~, true], "c d": 'it''s'}
                        e: *x
                        f:
                          - |
                            lines
                             kept
                          - >-
                            folded
                            line
                          - "\\u00e9\\n\\x41"
                        ? g
                        : !!str h
                        """,
                        "{model: {backbone: {type: resnet, depth: 50}, neck: null}, epochs: 3}"));
        return new ConfigTarget("configs", seeds, text -> ConfigFile.parse(text, "config"));
    }

    static ConfigTarget ofSettings() {
        ConfigNode.Mapping base = ConfigFile.packaged("retinanet/resnet18_fpn_demo.yaml");
        return new ConfigTarget(
                "settings",
                Texts.all(
                        "epochs=24\nmodel.backbone.depth=50",
                        "data.train_transforms=[{type: resize, scales: [[256, 192]]}]\nseed=-1",
                        "model.backbone={type: pvt, variant: tiny}\nmodel.neck.out_channels=8",
                        "data.root='a b'\ninit_from=\nmax_gradient_norm=null\niterations=7",
                        "optimizer={type: sgd, learning_rate: 1e-3}\nschedule.warmup=null"),
                text -> ConfigFile.withOverrides(base, List.of(text.split("\n"))));
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> words() {
        return Texts.split(
                "type: |model|backbone|neck|head|resnet|swin|variant: |- |\n  |"
                        + "epochs|data.|base: |depth|!!int |*x|&x |<<: |>|? |%YAML 1.2|---|"
                        + "...|{|}|=|out_channels|[1, 2]");
    }

    @Override
    public void enter(byte[] input) {
        ConfigNode.Mapping tree = reader.apply(Texts.of(input));
        String written = ConfigWriter.yaml(tree);
        assertEquals(written, ConfigWriter.yaml(ConfigFile.parse(written, "written")));
        ConfigNode withOrigins =
                ConfigFile.parse(ConfigWriter.yamlWithOrigins(tree), "with origins");
        assertEquals(written, ConfigWriter.yaml((ConfigNode.Mapping) withOrigins));
        assertFalse(ConfigWriter.json(tree).isEmpty());
        RunConfig run = Configs.bind(tree, RunConfig.class);
        ConfigNode.Mapping whole = Configs.unbind(run);
        String text = ConfigWriter.yaml(whole);
        assertEquals(run, Configs.bind(ConfigFile.parse(text, "whole"), RunConfig.class));
        assertEquals(run, Configs.bind(Configs.unbindChanges(run), RunConfig.class));
    }
}

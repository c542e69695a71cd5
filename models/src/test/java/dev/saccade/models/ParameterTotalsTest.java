package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.backbones.Swin;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.nn.Norm;
import dev.saccade.heads.roi.CascadeMaskRcnnHead;
import dev.saccade.heads.roi.MaskRcnnHead;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;

/** Parameter counts, rounded as in the papers. */
class ParameterTotalsTest {

    @ParameterizedTest
    @CsvSource({
        "tiny, 47794602, 85629804",
        "small, 69112506, 106947708",
        "base, 107141800, 144977002",
    })
    void areThoseOfSwin(String variant, long maskRcnn, long cascade) {
        Backbone.Config backbone = Configs.of(Swin.Config.class, "variant=" + variant);
        assertEquals(maskRcnn, total(backbone, Configs.of(MaskRcnnHead.Config.class)));
        assertEquals(cascade, total(backbone, Configs.of(CascadeMaskRcnnHead.Config.class)));
    }

    private static long total(Backbone.Config backbone, DetectionHead.Config head) {
        Fpn.Config neck = new Fpn.Config(256, 0, 5, Fpn.ExtraConvs.NONE, false, Norm.NONE);
        ModelConfig model = ModelConfig.detector(backbone, neck, head);
        return new DetectionModel(model, Collections.nCopies(80, "thing")).parameterCount();
    }
}

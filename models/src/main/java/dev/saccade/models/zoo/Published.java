package dev.saccade.models.zoo;

import com.google.common.collect.ImmutableMap;

import java.util.Map;
import java.util.Optional;

/**
 * What is published of a recipe; what is not published is empty.
 *
 * @param by the key of the {@link Original}; none for recipes of Saccade's own
 * @param boxAp box AP on COCO val2017, percent
 * @param maskAp mask AP on COCO val2017, percent
 * @param miou mIoU on ADE20K's validation part at one scale, percent
 * @param miouScales mIoU at many scales and in mirror images, percent
 * @param parameters millions
 * @param flops billions, for a photograph of 800x1280, or 512x2048 where pixels are labeled
 */
public record Published(
        Optional<String> by,
        Optional<Double> boxAp,
        Optional<Double> maskAp,
        Optional<Double> miou,
        Optional<Double> miouScales,
        Optional<Double> parameters,
        Optional<Double> flops) {

    /** Returns the figures that are published, by the names they have in {@code zoo.yaml}. */
    public Map<String, Double> figures() {
        ImmutableMap.Builder<String, Double> figures = ImmutableMap.builder();
        boxAp.ifPresent(value -> figures.put("box_ap", value));
        maskAp.ifPresent(value -> figures.put("mask_ap", value));
        miou.ifPresent(value -> figures.put("miou", value));
        miouScales.ifPresent(value -> figures.put("miou_scales", value));
        parameters.ifPresent(value -> figures.put("parameters", value));
        flops.ifPresent(value -> figures.put("flops", value));
        return figures.buildOrThrow();
    }
}

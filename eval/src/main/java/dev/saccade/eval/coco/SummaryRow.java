package dev.saccade.eval.coco;

/**
 * A metric of COCO's summary, from 0 to 1, or -1 without objects.
 *
 * @param name such as {@code AP}, {@code AP50}, {@code APs} or {@code AR@10}
 * @param maxDetections limit on the detections per image and class
 */
public record SummaryRow(String name, String iou, AreaRange area, int maxDetections, double value) {

    public boolean defined() {
        return value >= 0;
    }
}

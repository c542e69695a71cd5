package dev.saccade.eval.coco;

/**
 * A metric of COCO's summary.
 *
 * @param name such as {@code AP}, {@code AP50}, {@code APs} or {@code AR@10}
 * @param iou the IoU threshold, or the range over which is averaged
 * @param area size range of the objects
 * @param maxDetections the limit on the detections of an image and class
 * @param value from 0 to 1, or -1 if there is no object to find
 */
public record SummaryRow(String name, String iou, AreaRange area, int maxDetections, double value) {

    /** Returns whether there is an object to find. */
    public boolean defined() {
        return value >= 0;
    }
}

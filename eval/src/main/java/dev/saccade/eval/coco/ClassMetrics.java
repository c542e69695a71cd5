package dev.saccade.eval.coco;

/**
 * COCO's average precision of one class; -1 stands for a number without an object to find.
 *
 * @param name the name of the class
 * @param objects the number of objects without crowds
 * @param ap over the IoU thresholds .50 to .95
 * @param ap50 at IoU .50
 * @param ap75 at IoU .75
 * @param apSmall of objects up to 32 x 32 pixels
 * @param apMedium of objects from 32 x 32 to 96 x 96 pixels
 * @param apLarge of objects from 96 x 96 pixels
 */
public record ClassMetrics(
        String name,
        int objects,
        double ap,
        double ap50,
        double ap75,
        double apSmall,
        double apMedium,
        double apLarge) {}

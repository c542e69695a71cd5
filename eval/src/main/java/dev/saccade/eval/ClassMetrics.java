package dev.saccade.eval;

/**
 * How well the objects of one class are found; -1 stands for a number without an object to find.
 *
 * @param name the name of the class
 * @param objects the number of objects to find; crowds do not count
 * @param ap average precision over the IoU thresholds .50 to .95
 * @param ap50 average precision at IoU .50
 * @param ap75 average precision at IoU .75
 * @param apSmall average precision of objects up to 32 x 32 pixels
 * @param apMedium average precision of objects from 32 x 32 to 96 x 96 pixels
 * @param apLarge average precision of objects from 96 x 96 pixels
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

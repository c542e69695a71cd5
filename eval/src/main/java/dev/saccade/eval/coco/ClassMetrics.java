package dev.saccade.eval.coco;

/**
 * How well the objects of one class are found.
 *
 * @param name the name of the class
 * @param objects the number of objects to find; crowds do not count
 * @param precision their average precision
 */
public record ClassMetrics(String name, int objects, AveragePrecision precision) {}

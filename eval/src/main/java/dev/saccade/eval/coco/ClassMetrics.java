package dev.saccade.eval.coco;

/** COCO's average precision of one class; -1 if undefined. Crowds are not counted as objects. */
public record ClassMetrics(
        String name,
        int objects,
        double ap,
        double ap50,
        double ap75,
        double apSmall,
        double apMedium,
        double apLarge) {}

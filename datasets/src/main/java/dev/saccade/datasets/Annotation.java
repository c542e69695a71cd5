package dev.saccade.datasets;

/**
 * One labelled object as it stands in the annotation file: nothing is clipped or dropped, see
 * {@link TrainingTargets} for what a detector is trained on.
 *
 * @param id unique in the data set
 * @param label position of its class in {@link Dataset#classes}, or -1 for a class that is not
 *     wanted
 * @param x left edge in pixels
 * @param y top edge in pixels
 * @param width in pixels
 * @param height in pixels
 * @param area pixels of the object itself, not of its box
 * @param crowd whether it marks a group that was not separated
 * @param ignore whether training should pass over it
 * @param segmentation its outline
 */
public record Annotation(
        long id,
        int label,
        double x,
        double y,
        double width,
        double height,
        double area,
        boolean crowd,
        boolean ignore,
        Segmentation segmentation) {}

package dev.saccade.configgen;

import dev.saccade.core.parts.TargetKind;

/**
 * The numbers of a config, chosen for a data set and a machine: for a model that learns from
 * nothing, as nobody has to fetch weights. On processors they are those of the recipes that come
 * with Saccade for small data, which were measured; on GPUs the steps are more and the model is
 * larger.
 *
 * @param longEdge what photographs are resized to, in pixels
 * @param shortEdge likewise
 * @param batchSize photographs of a step
 * @param epochs passes over the photographs
 * @param stepsPerEpoch steps of a pass
 */
record Plan(int longEdge, int shortEdge, int batchSize, int epochs, int stepsPerEpoch) {

    /** What strides and paddings want. */
    private static final int MULTIPLE = 32;

    /** Objects should have so many pixels across; masks need more than boxes. */
    private static final double WANTED_OF_BOXES = 24;

    private static final double WANTED_OF_MASKS = 40;
    private static final double MOST_ENLARGED = 1.5;

    private static final int LEAST_EDGE = 320;
    private static final double MOST_PIXELS_OF_CPU = 640 * 480;
    private static final double MOST_PIXELS_OF_GPU = 1333 * 800;

    /** What a step of a GPU is reckoned to hold for each pixel of its input. */
    private static final double BYTES_PER_PIXEL = 3000;

    private static final int LEAST_EPOCHS = 12;
    private static final int MOST_EPOCHS = 100;

    static Plan of(Contents contents, Machine machine) {
        double scale = scale(contents, machine.gpu());
        int longEdge =
                Math.max(1, (int) Math.round(scale * contents.longEdge() / MULTIPLE)) * MULTIPLE;
        double shape = (double) contents.shortEdge() / Math.max(1, contents.longEdge());
        int shortEdge = Math.max(1, (int) Math.ceil(shape * longEdge / MULTIPLE)) * MULTIPLE;
        int pixels = contents.targets() == TargetKind.LABEL_MAPS ? 512 * 512 : longEdge * shortEdge;
        int photographs = Math.max(1, contents.photographs());
        int batch = Math.min(batchSize(contents.targets(), machine, pixels), photographs);
        int steps = (photographs + batch - 1) / batch;
        int epochs = (wantedSteps(contents.targets(), machine.gpu()) + steps - 1) / steps;
        return new Plan(
                longEdge,
                shortEdge,
                batch,
                Math.min(Math.max(epochs, LEAST_EPOCHS), MOST_EPOCHS),
                steps);
    }

    /** Returns what photographs are scaled by: for small objects, and within what can be paid. */
    private static double scale(Contents contents, boolean gpu) {
        double photo = Math.max(1, (double) contents.longEdge() * contents.shortEdge());
        double most = Math.sqrt((gpu ? MOST_PIXELS_OF_GPU : MOST_PIXELS_OF_CPU) / photo);
        if (contents.targets() == TargetKind.LABEL_MAPS || contents.smallObject() == 0) {
            return Math.min(1, most);
        }
        double wanted =
                (contents.targets().hasMasks() ? WANTED_OF_MASKS : WANTED_OF_BOXES)
                        / contents.smallObject();
        double least = (double) LEAST_EDGE / Math.max(1, contents.longEdge());
        return Math.min(Math.min(Math.max(wanted, least), MOST_ENLARGED), most);
    }

    private static int batchSize(TargetKind targets, Machine machine, int pixels) {
        if (machine.gpu()) {
            double fitting = machine.bytes() * 0.6 / (BYTES_PER_PIXEL * pixels);
            return (int) Math.min(Math.max(fitting, 1), 16);
        }
        return switch (targets) {
            case BOXES -> 4;
            case MASKS, MASKS_AND_LABEL_MAPS -> 2;
            case LABEL_MAPS -> 8;
        };
    }

    private static int wantedSteps(TargetKind targets, boolean gpu) {
        if (gpu) {
            return 4000;
        }
        return switch (targets) {
            case BOXES -> 870;
            case MASKS, MASKS_AND_LABEL_MAPS -> 420;
            case LABEL_MAPS -> 700;
        };
    }

    long steps() {
        return (long) epochs * stepsPerEpoch;
    }

    /** Returns the steps over which the learning rate rises. */
    long warmup() {
        return Math.min(Math.max(steps() / 12, 1), 500);
    }

    /** Returns after how many epochs the model is measured and saved: six times in a run. */
    int evaluationEpochs() {
        return Math.max(1, epochs / 6);
    }

    /** Returns a multiple of strides that the smallest anchors of a level have, to fit objects. */
    int baseScale(Contents contents, int finestStride, int least, int usual) {
        double shown = contents.smallObject() * longEdge / Math.max(1, contents.longEdge());
        return (int) Math.min(Math.max(Math.round(shown / finestStride), least), usual);
    }
}

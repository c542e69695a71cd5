package dev.saccade.configgen;

import dev.saccade.core.components.TargetKind;

/**
 * Input size, batch size and schedule of a config. The CPU values come from the evaluated recipes
 * for small data; GPUs get larger images and more steps.
 */
record Plan(int longEdge, int shortEdge, int batchSize, int epochs, int stepsPerEpoch) {

    private static final int MULTIPLE = 32;

    /** Target edge of small objects in pixels; masks need more than boxes. */
    private static final double TARGET_BOX_EDGE = 24;

    private static final double TARGET_MASK_EDGE = 40;
    private static final double MAX_ENLARGED = 1.5;

    private static final int MIN_EDGE = 320;
    private static final double MAX_PIXELS_OF_CPU = 640 * 480;
    private static final double MAX_PIXELS_OF_GPU = 1333 * 800;

    /** Estimated GPU memory of a training step per input pixel. */
    private static final double BYTES_PER_PIXEL = 3000;

    /** Input edges of classifiers; smaller images are enlarged. */
    private static final int MIN_CLASSIFIER_EDGE = 64;

    private static final int MAX_CLASSIFIER_EDGE_OF_CPU = 160;
    private static final int MAX_CLASSIFIER_EDGE_OF_GPU = 224;
    private static final int MAX_CLASSIFIER_BATCH = 64;

    private static final int MIN_EPOCHS = 12;

    /** Above this number of epochs, the config counts iterations. */
    private static final int MAX_EPOCHS = 100;

    /**
     * Plans training for a data set and a machine.
     *
     * @param isDetector whether training starts from a pretrained detector, whose smallest anchors
     *     are 32 pixels
     */
    static Plan of(DatasetContents contents, Machine machine, boolean isDetector) {
        if (contents.targets() == TargetKind.CLASSES) {
            return ofClassifier(contents, machine);
        }
        double scale = scale(contents, machine.gpu(), isDetector);
        int longEdge =
                Math.max(1, (int) Math.round(scale * contents.longEdge() / MULTIPLE)) * MULTIPLE;
        double shape = (double) contents.shortEdge() / Math.max(1, contents.longEdge());
        int shortEdge = Math.max(1, (int) Math.ceil(shape * longEdge / MULTIPLE)) * MULTIPLE;
        int pixels = contents.targets() == TargetKind.LABEL_MAPS ? 512 * 512 : longEdge * shortEdge;
        int images = Math.max(1, contents.images());
        int batch = Math.min(batchSize(contents.targets(), machine, pixels), images);
        int steps = (images + batch - 1) / batch;
        int epochs = (targetSteps(contents.targets(), machine) + steps - 1) / steps;
        return new Plan(longEdge, shortEdge, batch, Math.max(epochs, MIN_EPOCHS), steps);
    }

    private static Plan ofClassifier(DatasetContents contents, Machine machine) {
        int wanted = (int) Math.round((double) contents.shortEdge() / MULTIPLE) * MULTIPLE;
        int most = machine.gpu() ? MAX_CLASSIFIER_EDGE_OF_GPU : MAX_CLASSIFIER_EDGE_OF_CPU;
        int edge = Math.min(Math.max(wanted, MIN_CLASSIFIER_EDGE), most);
        int images = Math.max(1, contents.images());
        // Few images need smaller batches for several steps per epoch.
        int batch =
                Math.min(
                        Math.min(batchSize(TargetKind.CLASSES, machine, edge * edge), images),
                        Math.max(8, images / 8));
        // The loader drops the last incomplete batch.
        int steps = Math.max(1, images / batch);
        int epochs = (targetSteps(TargetKind.CLASSES, machine) + steps - 1) / steps;
        return new Plan(edge, edge, batch, Math.max(epochs, MIN_EPOCHS), steps);
    }

    /** Returns the resize factor that gives small objects the target edge, within size limits. */
    private static double scale(DatasetContents contents, boolean gpu, boolean isDetector) {
        double imageArea = Math.max(1, (double) contents.longEdge() * contents.shortEdge());
        double maxScale = Math.sqrt((gpu ? MAX_PIXELS_OF_GPU : MAX_PIXELS_OF_CPU) / imageArea);
        if (contents.targets() == TargetKind.LABEL_MAPS || contents.smallObject() == 0) {
            return Math.min(1, maxScale);
        }
        double target =
                (isDetector || contents.targets().hasMasks() ? TARGET_MASK_EDGE : TARGET_BOX_EDGE)
                        / contents.smallObject();
        double least = (double) MIN_EDGE / Math.max(1, contents.longEdge());
        return Math.min(Math.min(Math.max(target, least), MAX_ENLARGED), maxScale);
    }

    private static int batchSize(TargetKind targets, Machine machine, int pixels) {
        if (machine.gpu()) {
            double fitting = machine.bytes() * 0.6 / (BYTES_PER_PIXEL * pixels);
            int most = targets == TargetKind.CLASSES ? MAX_CLASSIFIER_BATCH : 16;
            return (int) Math.min(Math.max(fitting, 1), most);
        }
        return switch (targets) {
            case BOXES -> 4;
            case MASKS, MASKS_AND_LABEL_MAPS -> 2;
            case LABEL_MAPS -> 8;
            case CLASSES -> 32;
        };
    }

    private static int targetSteps(TargetKind targets, Machine machine) {
        if (machine.gpu()) {
            return targets == TargetKind.CLASSES ? 2000 : 4000;
        }
        return switch (targets) {
            case BOXES -> machine.fastBfloat16() ? 1500 : 870;
            case MASKS, MASKS_AND_LABEL_MAPS -> machine.fastBfloat16() ? 700 : 420;
            case LABEL_MAPS -> machine.fastBfloat16() ? 1200 : 700;
            case CLASSES -> machine.fastBfloat16() ? 300 : 200;
        };
    }

    /** Returns whether the data set has so few images that the config counts iterations. */
    boolean isShort() {
        return epochs > MAX_EPOCHS;
    }

    long steps() {
        return (long) epochs * stepsPerEpoch;
    }

    long warmup() {
        return Math.min(Math.max(steps() / 12, 1), 500);
    }

    /** Returns the size of the smallest anchors in strides, from {@code least} to {@code usual}. */
    int baseScale(DatasetContents contents, int finestStride, int least, int usual) {
        double shown = contents.smallObject() * longEdge / Math.max(1, contents.longEdge());
        return (int) Math.min(Math.max(Math.round(shown / finestStride), least), usual);
    }
}

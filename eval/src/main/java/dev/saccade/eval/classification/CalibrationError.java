package dev.saccade.eval.classification;

/**
 * Expected calibration error (Naeini et al. 2015; Guo et al. 2017): the difference between
 * confidence and accuracy of the predicted class, averaged over bins of confidence {@code [i / B,
 * (i + 1) / B)} and weighted by their images. Confidence 1 has its own bin. Equals torchmetrics'
 * {@code MulticlassCalibrationError}.
 */
final class CalibrationError {

    static final int BINS = 15;

    private CalibrationError() {}

    /** Returns the error in [0, 1] for confidences and whether each prediction is correct. */
    static double of(double[] confidences, boolean[] correct) {
        double[] confidence = new double[BINS + 1];
        double[] right = new double[BINS + 1];
        for (int i = 0; i < confidences.length; i++) {
            int bin = Math.min(BINS, (int) (confidences[i] * BINS));
            confidence[bin] += confidences[i];
            right[bin] += correct[i] ? 1 : 0;
        }
        double error = 0;
        for (int bin = 0; bin <= BINS; bin++) {
            error += Math.abs(confidence[bin] - right[bin]);
        }
        return confidences.length == 0 ? 0 : error / confidences.length;
    }
}

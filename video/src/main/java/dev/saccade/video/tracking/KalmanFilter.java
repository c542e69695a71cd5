package dev.saccade.video.tracking;

/**
 * Kalman filter of a box with constant velocity. The state has four measured values, followed by
 * the velocities of the first of them per frame.
 */
final class KalmanFilter {

    private static final int MEASURED = 4;

    private final int size;

    /** State; callers may change it. */
    final double[] mean;

    /** Covariance of the state, {@code [size, size]}. */
    private final double[] covariance;

    /** Creates a filter with velocities 0; there is a variance for each value and velocity. */
    KalmanFilter(double[] measurement, double... variances) {
        this.size = variances.length;
        this.mean = new double[size];
        System.arraycopy(measurement, 0, mean, 0, MEASURED);
        this.covariance = new double[size * size];
        addDiagonal(variances);
    }

    private KalmanFilter(KalmanFilter other) {
        this.size = other.size;
        this.mean = other.mean.clone();
        this.covariance = other.covariance.clone();
    }

    KalmanFilter copy() {
        return new KalmanFilter(this);
    }

    private void addDiagonal(double[] variances) {
        for (int i = 0; i < size; i++) {
            covariance[i * size + i] += variances[i];
        }
    }

    /** Advances the state by a frame and adds process noise. */
    void predict(double... variances) {
        int velocities = size - MEASURED;
        for (int i = 0; i < velocities; i++) {
            mean[i] += mean[MEASURED + i];
        }
        // F P F' adds the rows of velocities to the rows of values, and then the columns.
        for (int i = 0; i < velocities; i++) {
            for (int j = 0; j < size; j++) {
                covariance[i * size + j] += covariance[(MEASURED + i) * size + j];
            }
        }
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < velocities; j++) {
                covariance[i * size + j] += covariance[i * size + MEASURED + j];
            }
        }
        addDiagonal(variances);
    }

    /** Corrects the state by a measurement with independent noise. */
    void update(double[] measurement, double... variances) {
        double[] inverse = new double[MEASURED * MEASURED];
        for (int i = 0; i < MEASURED; i++) {
            System.arraycopy(covariance, i * size, inverse, i * MEASURED, MEASURED);
            inverse[i * MEASURED + i] += variances[i];
        }
        invert(inverse);
        double[] gain = new double[size * MEASURED];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < MEASURED; j++) {
                double sum = 0;
                for (int k = 0; k < MEASURED; k++) {
                    sum += covariance[i * size + k] * inverse[k * MEASURED + j];
                }
                gain[i * MEASURED + j] = sum;
            }
        }
        double[] difference = new double[MEASURED];
        for (int i = 0; i < MEASURED; i++) {
            difference[i] = measurement[i] - mean[i];
        }
        double[] before = covariance.clone();
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < MEASURED; k++) {
                double factor = gain[i * MEASURED + k];
                mean[i] += factor * difference[k];
                for (int j = 0; j < size; j++) {
                    covariance[i * size + j] -= factor * before[k * size + j];
                }
            }
        }
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < i; j++) {
                double symmetric = (covariance[i * size + j] + covariance[j * size + i]) / 2;
                covariance[i * size + j] = symmetric;
                covariance[j * size + i] = symmetric;
            }
        }
    }

    /** Inverts a positive definite matrix, {@code [MEASURED, MEASURED]}, by Gauss-Jordan steps. */
    private static void invert(double[] matrix) {
        for (int pivot = 0; pivot < MEASURED; pivot++) {
            double scale = 1 / matrix[pivot * MEASURED + pivot];
            matrix[pivot * MEASURED + pivot] = 1;
            for (int j = 0; j < MEASURED; j++) {
                matrix[pivot * MEASURED + j] *= scale;
            }
            for (int i = 0; i < MEASURED; i++) {
                if (i != pivot) {
                    double factor = matrix[i * MEASURED + pivot];
                    matrix[i * MEASURED + pivot] = 0;
                    for (int j = 0; j < MEASURED; j++) {
                        matrix[i * MEASURED + j] -= factor * matrix[pivot * MEASURED + j];
                    }
                }
            }
        }
    }
}

package dev.saccade.core.ops.vision;

/**
 * Sampling points of RoIAlign along one axis, each interpolated between two cells. Computed in
 * float32 like the original.
 *
 * <p>A point up to one cell beyond the outermost cell centers is moved to the nearest center;
 * points farther away have weight 0. From the last center on, {@code low} equals {@code high}.
 *
 * @param perBin points per bin; with sampling ratio 0, an empty region has none
 * @param near weight of the lower cell
 * @param far weight of the upper cell
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
record BilinearSamples(int perBin, int[] low, int[] high, float[] near, float[] far) {

    /** Computes the points of a region given in cells; ratio 0 means about one point per cell. */
    static BilinearSamples layOut(
            float start, float extent, int bins, int samplingRatio, int cells) {
        float size = extent / bins;
        int perBin = samplingRatio > 0 ? samplingRatio : (int) Math.ceil(size);
        int points = Math.max(0, perBin) * bins;
        BilinearSamples samples =
                new BilinearSamples(
                        Math.max(0, perBin),
                        new int[points],
                        new int[points],
                        new float[points],
                        new float[points]);
        for (int i = 0; i < points; i++) {
            int bin = i / perBin;
            float offset = (i % perBin + 0.5f) * size / perBin;
            samples.place(i, start + bin * size + offset, cells);
        }
        return samples;
    }

    private void place(int i, float position, int cells) {
        if (!(position >= -1 && position <= cells)) {
            return;
        }
        float inside = Math.max(position, 0);
        int cell = (int) inside;
        if (cell >= cells - 1) {
            low[i] = cells - 1;
            high[i] = cells - 1;
            near[i] = 1;
        } else {
            low[i] = cell;
            high[i] = cell + 1;
            far[i] = inside - cell;
            near[i] = 1 - far[i];
        }
    }

    /** Returns the total weight of each cell in a bin. */
    Cells cells(int bin) {
        int first = Integer.MAX_VALUE;
        int last = -1;
        for (int i = bin * perBin; i < (bin + 1) * perBin; i++) {
            if (near[i] + far[i] > 0) {
                first = Math.min(first, low[i]);
                last = Math.max(last, high[i]);
            }
        }
        if (last < 0) {
            return Cells.NONE;
        }
        float[] weights = new float[last - first + 1];
        for (int i = bin * perBin; i < (bin + 1) * perBin; i++) {
            if (near[i] + far[i] > 0) {
                weights[low[i] - first] += near[i];
                weights[high[i] - first] += far[i];
            }
        }
        return new Cells(first, weights);
    }

    /** Weights of adjacent cells, from cell {@code first} on. */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    record Cells(int first, float[] weights) {

        private static final Cells NONE = new Cells(0, new float[0]);
    }
}

package dev.saccade.core.ops.vision;

/**
 * Where the sampling points of RoIAlign fall along one axis: each lies between two cells, of which
 * it takes shares. Every step is float32, as in the original.
 *
 * <p>A point at most one cell outside of the map is moved to its border; one further away has no
 * shares.
 *
 * @param perBin number of points in a bin; 0 for a region without extent
 * @param low the lower cell of every point
 * @param high the upper cell, the same as the lower one at the border
 * @param near the share of the lower cell
 * @param far the share of the upper cell
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
record BilinearSamples(int perBin, int[] low, int[] high, float[] near, float[] far) {

    /**
     * Lays out the points.
     *
     * @param start where the region begins, in cells
     * @param extent its size, in cells
     * @param bins number of bins it is cut into
     * @param samplingRatio points in a bin; 0 for one a cell
     * @param cells size of the map
     */
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

    /** Returns the share that each cell has in the points of one bin. */
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

    /**
     * Neighboring cells and their shares.
     *
     * @param first the first cell
     * @param weights of it and of those behind it
     */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    record Cells(int first, float[] weights) {

        private static final Cells NONE = new Cells(0, new float[0]);
    }
}

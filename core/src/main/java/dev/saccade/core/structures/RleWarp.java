package dev.saccade.core.structures;

/** Warps a mask; visits only the pixels of the result that its bounding box can reach. */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
record RleWarp(byte[] bitmap, Rle.Bounds box, Affine map) {

    /** Margin for rounding, in pixels. */
    private static final int MARGIN = 1;

    Rle to(Size target) {
        RunBuilder runs = new RunBuilder(target);
        double[] reach =
                map.bounds(
                        box.x() - 0.5,
                        box.y() - 0.5,
                        box.x() + box.width() - 0.5,
                        box.y() + box.height() - 0.5);
        int left = clamp(Math.floor(reach[0]) - MARGIN, target.width());
        int top = clamp(Math.floor(reach[1]) - MARGIN, target.height());
        int right = clamp(Math.ceil(reach[2]) + MARGIN, target.width());
        int bottom = clamp(Math.ceil(reach[3]) + MARGIN, target.height());
        if (bitmap.length > 0) {
            Affine back = map.inverse();
            for (int x = left; x < right; x++) {
                addColumn(runs, back, x * target.height(), x, top, bottom);
            }
        }
        runs.fill(RunBuilder.pixels(target), false);
        return runs.build();
    }

    private static int clamp(double edge, int most) {
        return (int) Math.max(0, Math.min(edge, most));
    }

    private void addColumn(RunBuilder runs, Affine back, int start, int x, int top, int bottom) {
        double startX = back.x(x, 0);
        double startY = back.y(x, 0);
        boolean inside = false;
        for (int y = top; y < bottom; y++) {
            int column = (int) Math.rint(startX + back.xy() * y) - box.x();
            int row = (int) Math.rint(startY + back.yy() * y) - box.y();
            boolean now =
                    column >= 0
                            && column < box.width()
                            && row >= 0
                            && row < box.height()
                            && bitmap[row * box.width() + column] != 0;
            if (now != inside) {
                runs.fill(start + y, inside);
                inside = now;
            }
        }
        runs.fill(start + bottom, inside);
    }
}

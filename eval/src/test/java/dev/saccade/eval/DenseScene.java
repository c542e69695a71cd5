package dev.saccade.eval;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.coco.CocoDetections;

/**
 * Three images with 240 objects each, 200 of the first class, and 1083 detections; from the
 * generator of {@link RandomScene}, so that a Python script can reproduce it.
 */
public final class DenseScene {

    public static final int OBJECTS_PER_IMAGE = 240;

    public final MemoryDataset dataset = new MemoryDataset("a", "b");
    public final CocoDetections.Builder boxes = new CocoDetections.Builder();
    private long state = 1;

    public DenseScene() {
        for (int id = 1; id <= 3; id++) {
            dataset.addImage(id);
            for (int g = 0; g < OBJECTS_PER_IMAGE; g++) {
                add(id, g % 20 * 15, g / 20 * 20, g < 200 ? 0 : 1);
            }
        }
    }

    private void add(long imageId, int x, int y, int label) {
        int width = 6 + next(8);
        int height = 6 + next(12);
        dataset.object(label, x, y, width, height, width * height * 6 / 8.0);
        int found = 1 + next(2);
        for (int d = 0; d < found; d++) {
            int left = x + next(3);
            int top = y + next(3);
            Annotation.Bbox box = new Annotation.Bbox(left, top, width, height);
            boxes.add(imageId, label, box, next(50) / 50.0);
        }
    }

    private int next(int bound) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return (int) ((state >>> 33) % bound);
    }
}

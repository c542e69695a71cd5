package dev.saccade.eval;

import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;
import dev.saccade.eval.coco.CocoDetections;

/**
 * Objects and detections from a generator that other languages can reproduce: 30 images, 64 objects
 * with crowds, and 121 detections with many equal scores; no object of the fifth class. All corners
 * are integers.
 */
public final class RandomScene {

    public final MemoryDataset dataset = new MemoryDataset("a", "b", "c", "d", "e");
    public final CocoDetections.Builder boxes = new CocoDetections.Builder();
    public final CocoDetections.Builder masks = new CocoDetections.Builder();
    private long state = 1;

    public RandomScene() {
        for (int i = 0; i < 30; i++) {
            // Ids are not in image order.
            long id = 1000 - 7L * i;
            dataset.addImage(id);
            int objects = next(7);
            for (int g = 0; g < objects; g++) {
                addObject(id);
            }
            int strays = next(3);
            for (int d = 0; d < strays; d++) {
                int label = next(4);
                detect(id, label, next(100), next(80), 1 + next(90), 1 + next(60));
            }
        }
    }

    private int next(int bound) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return (int) ((state >>> 33) % bound);
    }

    private void addObject(long imageId) {
        int x = next(120);
        int y = next(90);
        int width = 4 + next(140);
        int height = 4 + next(140);
        int label = next(4);
        if (next(8) == 0) {
            dataset.crowd(label, x, y, width, height);
        } else {
            dataset.object(label, x, y, width, height, width * height * 6 / 8.0);
        }
        int found = next(4);
        for (int d = 0; d < found; d++) {
            int left = Math.max(0, x + next(13) - 6);
            int top = Math.max(0, y + next(13) - 6);
            int detectedWidth = Math.max(1, width + next(13) - 6);
            int detectedHeight = Math.max(1, height + next(13) - 6);
            int seen = next(6) > 0 ? label : next(4);
            detect(imageId, seen, left, top, detectedWidth, detectedHeight);
        }
    }

    private void detect(long imageId, int label, int x, int y, int width, int height) {
        double score = next(20) / 20.0;
        boxes.add(imageId, label, new Annotation.Bbox(x, y, width, height), score);
        masks.add(imageId, label, Rle.fromBox(MemoryDataset.SIZE, x, y, width, height), score);
    }
}

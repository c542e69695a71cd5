package dev.saccade.djl;

import ai.djl.modality.cv.output.BoundingBox;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.modality.cv.output.Mask;
import ai.djl.modality.cv.output.Rectangle;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.List;

/**
 * Objects as DJL tells them: boxes as fractions of the photograph, from which the very float of a
 * box comes back when they are multiplied by its size, and masks within their boxes.
 *
 * <p>A mask covers the whole pixels that its box touches: from {@code floor(x1), floor(y1)} to
 * {@code ceil(x2), ceil(y2)}, 1 in the foreground and 0 elsewhere.
 */
final class DjlAnswers {

    private DjlAnswers() {}

    /** Returns the objects of a photograph of a size. */
    static DetectedObjects of(Instances objects, Size photo, List<String> classes) {
        List<String> names = new ArrayList<>();
        List<Double> scores = new ArrayList<>();
        List<BoundingBox> boxes = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            names.add(classes.get(objects.label(i)));
            scores.add((double) objects.score(i));
            boxes.add(box(objects, i, photo));
        }
        return new DetectedObjects(names, scores, boxes);
    }

    private static BoundingBox box(Instances objects, int i, Size photo) {
        Boxes boxes = objects.boxes();
        double x = boxes.x1(i) / (double) photo.width();
        double y = boxes.y1(i) / (double) photo.height();
        double width = boxes.x2(i) / (double) photo.width() - x;
        double height = boxes.y2(i) / (double) photo.height() - y;
        return objects.hasMasks()
                ? new Mask(x, y, width, height, pixels(boxes, i, objects.mask(i)))
                : new Rectangle(x, y, width, height);
    }

    private static float[][] pixels(Boxes boxes, int i, Rle mask) {
        Size photo = mask.size();
        int left = Math.min((int) boxes.x1(i), photo.width() - 1);
        int top = Math.min((int) boxes.y1(i), photo.height() - 1);
        int right = Math.max((int) Math.ceil(boxes.x2(i)), left + 1);
        int bottom = Math.max((int) Math.ceil(boxes.y2(i)), top + 1);
        float[][] pixels = new float[bottom - top][right - left];
        mask.crop(top, left, new Size(bottom - top, right - left))
                .forEachStretch(
                        (x, first, end) -> {
                            for (int y = first; y < end; y++) {
                                pixels[y][x] = 1;
                            }
                        });
        return pixels;
    }
}

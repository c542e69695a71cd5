package dev.saccade.models.tiles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/** Objects at known positions, as a detector finds them in tiles that cut them. */
class TiledObjectsTest {

    private static final Size PHOTO = new Size(500, 700);
    private static final Tiles TILES = Tiles.of(200, 160).whole(false);

    /** An object with a box in whole pixels, filled by its mask. */
    private record Thing(int x1, int y1, int x2, int y2, int label) {

        Thing within(Tile tile) {
            return new Thing(
                    Math.max(x1, tile.left()),
                    Math.max(y1, tile.top()),
                    Math.min(x2, tile.right()),
                    Math.min(y2, tile.bottom()),
                    label);
        }

        boolean isThere() {
            return x1 < x2 && y1 < y2;
        }

        Rle mask(Tile tile) {
            Size size = new Size(y2 - y1, x2 - x1);
            return Rle.fromCounts(size, 0, (int) size.area())
                    .place(y1 - tile.top(), x1 - tile.left(), tile.size());
        }
    }

    /** Returns the predictions of an ideal detector: the visible part of every object. */
    private static Instances seen(List<Thing> things, Tile tile, double noise, Random random) {
        List<Thing> parts =
                things.stream().map(t -> t.within(tile)).filter(Thing::isThere).toList();
        float[] corners = new float[4 * parts.size()];
        float[] scores = new float[parts.size()];
        for (int i = 0; i < parts.size(); i++) {
            Thing part = parts.get(i);
            int[] exact = {part.x1, part.y1, part.x2, part.y2};
            for (int k = 0; k < 4; k++) {
                int extent = k % 2 == 0 ? part.x2 - part.x1 : part.y2 - part.y1;
                int edge = k % 2 == 0 ? tile.size().width() : tile.size().height();
                double wrong = noise * extent * (2 * random.nextDouble() - 1);
                double at = exact[k] - (k % 2 == 0 ? tile.left() : tile.top()) + wrong;
                corners[4 * i + k] = (float) Math.max(0, Math.min(edge, at));
            }
            scores[i] = 0.9f - 0.001f * i;
        }
        int[] labels = parts.stream().mapToInt(Thing::label).toArray();
        return Instances.predicted(Boxes.of(corners), labels, scores)
                .withMasks(parts.stream().map(part -> part.mask(tile)).toList());
    }

    private static Instances merged(Tiles tiles, Size photo, List<Thing> things, double noise) {
        Random random = new Random(7);
        TiledObjects objects = new TiledObjects(photo);
        if (tiles.whole()) {
            objects.add(Tile.all(photo), seen(things, Tile.all(photo), noise, random));
        }
        tiles.of(photo).forEach(tile -> objects.add(tile, seen(things, tile, noise, random)));
        return objects.merged();
    }

    private static Set<List<Float>> boxes(Instances objects) {
        Set<List<Float>> boxes = new HashSet<>();
        for (int i = 0; i < objects.size(); i++) {
            Boxes all = objects.boxes();
            boxes.add(
                    List.of(all.x1(i), all.y1(i), all.x2(i), all.y2(i), (float) objects.label(i)));
        }
        return boxes;
    }

    private static void assertExact(Tiles tiles, Size photo, List<Thing> things) {
        Instances found = merged(tiles, photo, things, 0);
        Set<List<Float>> expected = new HashSet<>();
        Set<Rle> masks = new HashSet<>();
        for (Thing thing : things) {
            expected.add(
                    List.of(
                            (float) thing.x1,
                            (float) thing.y1,
                            (float) thing.x2,
                            (float) thing.y2,
                            (float) thing.label));
            masks.add(thing.mask(Tile.all(photo)));
        }
        assertEquals(expected, boxes(found));
        assertEquals(things.size(), found.size());
        assertEquals(masks, new HashSet<>(found.masks()));
    }

    @Test
    void cutObjectsAreMergedAnywhere() {
        for (int x = 0; x <= PHOTO.width() - 30; x += 5) {
            for (int y = 0; y <= PHOTO.height() - 24; y += 61) {
                assertExact(TILES, PHOTO, List.of(new Thing(x, y, x + 30, y + 24, 0)));
            }
        }
    }

    @Test
    void largeObjectsAreMergedAnywhere() {
        for (int edge : new int[] {60, 150, 290, 430}) {
            for (int x = 0; x <= PHOTO.width() - edge; x += 31) {
                for (int y = 0; y <= PHOTO.height() - edge; y += 43) {
                    Thing large = new Thing(x, y, x + edge, y + edge, 1);
                    assertExact(TILES, PHOTO, List.of(large));
                    assertExact(TILES.whole(true), PHOTO, List.of(large));
                }
            }
        }
    }

    @Test
    void touchingObjectsAreNotMerged() {
        for (int edge : new int[] {12, 50, 170}) {
            for (int x = 0; x <= PHOTO.width() - 2 * edge; x += 29) {
                for (int y = 0; y <= PHOTO.height() - 2 * edge; y += 47) {
                    Thing first = new Thing(x, y, x + edge, y + edge, 0);
                    Thing beside = new Thing(x + edge, y, x + 2 * edge, y + edge, 0);
                    Thing below = new Thing(x, y + edge, x + edge, y + 2 * edge, 0);
                    assertExact(TILES, PHOTO, List.of(first, beside, below));
                }
            }
        }
    }

    @Test
    void nestedObjectsAreNotMerged() {
        for (int x = 0; x <= PHOTO.width() - 120; x += 5) {
            Thing outer = new Thing(x, 90, x + 120, 210, 0);
            Thing inner = new Thing(x + 45, 135, x + 75, 165, 0);
            assertExact(TILES, PHOTO, List.of(outer, inner));
        }
    }

    @Property(tries = 60)
    void manyObjectsAreMergedForAnyTiling(
            @ForAll @IntRange(min = 120, max = 400) int width,
            @ForAll @IntRange(min = 120, max = 400) int height,
            @ForAll @DoubleRange(min = 0.1, max = 0.6) double overlap,
            @ForAll boolean whole,
            @ForAll long seed) {
        Tiles tiles = Tiles.of(width, height).overlap(overlap).whole(whole);
        assertExact(tiles, PHOTO, scattered(new Random(seed)));
    }

    /** Returns objects in the cells of a grid, so that they do not overlap. */
    private static List<Thing> scattered(Random random) {
        List<Thing> things = new ArrayList<>();
        for (int x = 0; x < 700; x += 100) {
            for (int y = 0; y < 500; y += 100) {
                int x1 = x + random.nextInt(40);
                int y1 = y + random.nextInt(40);
                int x2 = x + 60 + random.nextInt(41);
                int y2 = y + 60 + random.nextInt(41);
                things.add(new Thing(x1, y1, x2, y2, random.nextInt(2)));
            }
        }
        return things;
    }

    @Property(tries = 60)
    void inexactBoxesAreMerged(
            @ForAll @IntRange(min = 160, max = 400) int edge,
            @ForAll @DoubleRange(min = 0.15, max = 0.5) double overlap,
            @ForAll long seed) {
        List<Thing> things = scattered(new Random(seed));
        Tiles tiles = Tiles.of(edge).overlap(overlap).whole(false);
        Instances found = merged(tiles, PHOTO, things, 0.02);
        assertEquals(things.size(), found.size());
        for (Thing thing : things) {
            assertTrue(
                    IntStream.range(0, found.size())
                            .anyMatch(
                                    i ->
                                            found.label(i) == thing.label
                                                    && iou(found.boxes(), i, thing) > 0.85),
                    () -> thing + " among " + found);
        }
    }

    private static double iou(Boxes boxes, int i, Thing thing) {
        double width = Math.min(boxes.x2(i), thing.x2) - Math.max(boxes.x1(i), thing.x1);
        double height = Math.min(boxes.y2(i), thing.y2) - Math.max(boxes.y1(i), thing.y1);
        double shared = Math.max(0, width) * Math.max(0, height);
        double own = (double) (thing.x2 - thing.x1) * (thing.y2 - thing.y1);
        return shared / (own + boxes.area(i) - shared);
    }

    @Test
    void mergedObjectHasTheBestScore() {
        Size photo = new Size(100, 300);
        List<Tile> tiles = Tiles.of(200).of(photo);
        assertEquals(List.of(0, 100), tiles.stream().map(Tile::left).toList());
        TiledObjects objects = new TiledObjects(photo);
        objects.add(tiles.get(0), one(110, 10, 190, 90, 0.6f));
        objects.add(tiles.get(1), one(12, 11, 91, 90, 0.8f));
        Instances found = objects.merged();
        assertEquals(1, found.size());
        assertEquals(0.8f, found.score(0));
        assertEquals(Boxes.of(112, 11, 191, 90), found.boxes());
    }

    private static Instances one(float x1, float y1, float x2, float y2, float score) {
        return Instances.predicted(Boxes.of(x1, y1, x2, y2), new int[] {0}, new float[] {score});
    }

    @Test
    void objectsAreSortedByScore() {
        TiledObjects objects = new TiledObjects(new Size(100, 300));
        List<Tile> tiles = Tiles.of(200).of(new Size(100, 300));
        objects.add(tiles.get(0), one(10, 10, 40, 40, 0.3f));
        objects.add(tiles.get(1), one(130, 10, 160, 40, 0.7f));
        Instances found = objects.merged();
        assertEquals(
                List.of(0.7f, 0.3f),
                IntStream.range(0, found.size())
                        .mapToObj(found::score)
                        .sorted(Comparator.reverseOrder())
                        .toList());
        assertEquals(0.7f, found.score(0));
    }

    @Test
    void emptyTilesHaveNoObjects() {
        assertEquals(0, merged(TILES, PHOTO, List.of(), 0).size());
    }
}

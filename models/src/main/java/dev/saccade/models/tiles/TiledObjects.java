package dev.saccade.models.tiles;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Tiles.Tile;

import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Merges the objects detected in the tiles of an image.
 *
 * <p>An object is <em>cut</em> if its box ends at a tile border inside the image. Two boxes are the
 * same object if they have the same class, come from different tiles, and have an IoU of at least
 * {@link #MIN_IOU}, computed within the overlap of both tiles if a box is cut. So two halves of an
 * object are merged however small the overlap is, while touching or nested objects stay apart.
 * {@code sahi} compares the intersection with the smaller box instead (GREEDYNMM by IOS), which
 * merges nested objects and misses halves.
 *
 * <ol>
 *   <li>Remove a cut object if another tile contains its whole box and extends beyond the cut.
 *   <li>Of equal uncut objects, keep the one with the highest score.
 *   <li>Remove cut objects that are part of an uncut object, which gets the higher score.
 *   <li>Join the remaining cut objects: bounding box, union of masks, highest score.
 * </ol>
 *
 * <p>Objects of the same tile are not compared, as NMS has already merged them.
 */
public final class TiledObjects {

    private static final double MIN_IOU = 0.5;

    /** Maximum distance of a cut box from a tile border, in tile sizes; boxes are inexact. */
    private static final double CUT_DISTANCE = 1.0 / 64;

    /**
     * Upper limit of {@link #margins}. Larger than {@link #CUT_DISTANCE}; otherwise two tiles might
     * each drop their box of the same object.
     */
    private static final double MARGIN = 2 * CUT_DISTANCE;

    private final Size image;
    private final List<Tile> tiles = new ArrayList<>();
    private final List<Found> found = new ArrayList<>();

    /** Creates a merger without objects for an image of this size. */
    public TiledObjects(Size image) {
        this.image = image;
    }

    /** An object in image coordinates: prediction {@code at} of {@code origin}. */
    private record Found(
            int tile,
            int label,
            float score,
            Rectangle2D box,
            boolean cut,
            Instances origin,
            int at) {}

    private static Rectangle2D box(double x1, double y1, double x2, double y2) {
        return new Rectangle2D.Double(x1, y1, x2 - x1, y2 - y1);
    }

    private static Rectangle2D box(Tile tile) {
        return box(tile.left(), tile.top(), tile.right(), tile.bottom());
    }

    private static double area(Rectangle2D box) {
        return Math.max(0, box.getWidth()) * Math.max(0, box.getHeight());
    }

    private static double iou(Rectangle2D a, Rectangle2D b) {
        double shared = area(a.createIntersection(b));
        return shared == 0 ? 0 : shared / (area(a) + area(b) - shared);
    }

    /** Adds the predictions for a tile or the whole image, in pixels of the tile. */
    public void add(Tile tile, Instances objects) {
        Boxes boxes = objects.boxes().translate(tile.left(), tile.top());
        for (int i = 0; i < objects.size(); i++) {
            Rectangle2D box = box(boxes.x1(i), boxes.y1(i), boxes.x2(i), boxes.y2(i));
            found.add(
                    new Found(
                            tiles.size(),
                            objects.label(i),
                            objects.score(i),
                            box,
                            cuts(tile, box),
                            objects,
                            i));
        }
        tiles.add(tile);
    }

    /** Returns whether a box reaches a tile border inside the image. */
    private boolean cuts(Tile tile, Rectangle2D box) {
        return Arrays.stream(margins(tile, box)).anyMatch(side -> side < CUT_DISTANCE);
    }

    /** Returns whether a tile contains a box more completely than another tile. */
    private boolean containsMore(Tile tile, Tile other, Rectangle2D box) {
        double[] own = margins(tile, box);
        double[] theirs = margins(other, box);
        return IntStream.range(0, own.length).allMatch(side -> own[side] >= theirs[side])
                && IntStream.range(0, own.length)
                        .anyMatch(side -> theirs[side] < CUT_DISTANCE && own[side] >= CUT_DISTANCE);
    }

    /**
     * Returns the distances of a box from the left, top, right and bottom of a tile, relative to
     * the tile size. They are at most {@link #MARGIN}, and {@link #MARGIN} at image borders.
     */
    private double[] margins(Tile tile, Rectangle2D box) {
        double width = tile.size().width();
        double height = tile.size().height();
        return new double[] {
            tile.left() == 0 ? MARGIN : Math.min(MARGIN, (box.getMinX() - tile.left()) / width),
            tile.top() == 0 ? MARGIN : Math.min(MARGIN, (box.getMinY() - tile.top()) / height),
            tile.right() == image.width()
                    ? MARGIN
                    : Math.min(MARGIN, (tile.right() - box.getMaxX()) / width),
            tile.bottom() == image.height()
                    ? MARGIN
                    : Math.min(MARGIN, (tile.bottom() - box.getMaxY()) / height)
        };
    }

    /** Returns the merged objects by descending score. */
    public Instances merged() {
        List<int[]> neighbors = neighbors();
        List<List<Group>> kept = new ArrayList<>();
        tiles.forEach(tile -> kept.add(new ArrayList<>()));
        List<Group> groups = new ArrayList<>();
        List<Group> parts = new ArrayList<>();
        for (Found object : candidatesInOrder(neighbors)) {
            List<Group> same =
                    Arrays.stream(neighbors.get(object.tile()))
                            .mapToObj(kept::get)
                            .flatMap(List::stream)
                            .filter(group -> isPartOf(group.first(), object))
                            .toList();
            if (!same.isEmpty()) {
                same.get(0).raiseScore(object.score());
                continue;
            }
            Group own = new Group(object);
            groups.add(own);
            if (object.cut()) {
                parts.add(own);
            } else {
                kept.get(object.tile()).add(own);
            }
        }
        join(parts, neighbors);
        return instances(groups.stream().filter(group -> !group.isMerged()).toList());
    }

    /** Returns the indices of the tiles that overlap each tile. */
    private List<int[]> neighbors() {
        return IntStream.range(0, tiles.size())
                .mapToObj(
                        i ->
                                IntStream.range(0, tiles.size())
                                        .filter(j -> j != i && tiles.get(i).overlaps(tiles.get(j)))
                                        .toArray())
                .toList();
    }

    /** Returns the objects after step 1: uncut before cut ones, each by descending score. */
    private List<Found> candidatesInOrder(List<int[]> neighbors) {
        return found.stream()
                .filter(object -> !object.cut() || !isContainedInAnotherTile(object, neighbors))
                .sorted(
                        Comparator.comparing(Found::cut)
                                .thenComparing(Found::score, Comparator.reverseOrder()))
                .toList();
    }

    /**
     * Returns whether another tile contains more of an object. Ignores the tile of the whole image,
     * which contains every object, but at low resolution.
     */
    private boolean isContainedInAnotherTile(Found object, List<int[]> neighbors) {
        Tile own = tiles.get(object.tile());
        return Arrays.stream(neighbors.get(object.tile()))
                .mapToObj(tiles::get)
                .anyMatch(
                        tile ->
                                !tile.size().equals(image)
                                        && containsMore(tile, own, object.box()));
    }

    /** Returns whether an object equals an uncut object or is a part of it. */
    private boolean isPartOf(Found uncut, Found object) {
        return iou(uncut, object) >= MIN_IOU
                && area(uncut.box().createIntersection(object.box()))
                        >= MIN_IOU * area(object.box());
    }

    /** Returns the IoU, within the overlap of the tiles if a box is cut; 0 if classes differ. */
    private double iou(Found first, Found second) {
        if (first.label() != second.label()) {
            return 0;
        }
        return first.cut() || second.cut()
                ? iou(
                        first.box().createIntersection(box(tiles.get(second.tile()))),
                        second.box().createIntersection(box(tiles.get(first.tile()))))
                : iou(first.box(), second.box());
    }

    /** Two cut boxes that may belong to one object, and their IoU. */
    private record Pair(Group first, Group second, double iou) {}

    private void join(List<Group> parts, List<int[]> neighbors) {
        Map<Integer, List<Group>> byTile =
                parts.stream().collect(Collectors.groupingBy(part -> part.first().tile()));
        List<Pair> pairs = new ArrayList<>();
        for (Group part : parts) {
            int tile = part.first().tile();
            for (int later : neighbors.get(tile)) {
                if (later > tile) {
                    for (Group other : byTile.getOrDefault(later, List.of())) {
                        double iou = iou(part.first(), other.first());
                        if (iou >= MIN_IOU) {
                            pairs.add(new Pair(part, other, iou));
                        }
                    }
                }
            }
        }
        pairs.sort(Comparator.comparing(Pair::iou).reversed());
        pairs.forEach(pair -> pair.first().root().join(pair.second().root()));
    }

    private Instances instances(List<Group> groups) {
        List<Group> order = new ArrayList<>(groups);
        order.sort(Comparator.comparing(Group::score).reversed());
        float[] corners = new float[4 * order.size()];
        int[] labels = new int[order.size()];
        float[] scores = new float[order.size()];
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < order.size(); i++) {
            Group group = order.get(i);
            Rectangle2D box = group.box();
            corners[4 * i] = (float) box.getMinX();
            corners[4 * i + 1] = (float) box.getMinY();
            corners[4 * i + 2] = (float) box.getMaxX();
            corners[4 * i + 3] = (float) box.getMaxY();
            labels[i] = group.first().label();
            scores[i] = group.score();
            if (group.first().origin().hasMasks()) {
                masks.add(Rle.union(group.members().stream().map(this::mask).toList()));
            }
        }
        return Instances.predicted(Boxes.of(corners), labels, scores).withMasks(masks);
    }

    private Rle mask(Found object) {
        Tile tile = tiles.get(object.tile());
        return object.origin().mask(object.at()).place(tile.top(), tile.left(), image);
    }

    /** An uncut object, or the cut boxes of one object, joined so far. */
    private static final class Group {

        private final List<Found> members = new ArrayList<>();
        private Optional<Group> mergedInto = Optional.empty();
        private float score;

        Group(Found first) {
            members.add(first);
            score = first.score();
        }

        Found first() {
            return members.get(0);
        }

        List<Found> members() {
            return members;
        }

        float score() {
            return score;
        }

        Rectangle2D box() {
            return members.stream().map(Found::box).reduce(Rectangle2D::createUnion).orElseThrow();
        }

        void raiseScore(float other) {
            score = Math.max(score, other);
        }

        boolean isMerged() {
            return mergedInto.isPresent();
        }

        Group root() {
            return mergedInto.map(Group::root).orElse(this);
        }

        /**
         * Adds another group, unless both have objects of the same tile, which are different
         * objects.
         */
        void join(Group other) {
            Set<Integer> own = members.stream().map(Found::tile).collect(Collectors.toSet());
            if (other != this && other.members.stream().map(Found::tile).noneMatch(own::contains)) {
                members.addAll(other.members);
                raiseScore(other.score);
                other.mergedInto = Optional.of(this);
            }
        }
    }
}

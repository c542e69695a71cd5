package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Pascal VOC: an XML file for each photograph. Where CVAT states a {@code rotation} among the
 * attributes, the box is the one around the rotated box.
 *
 * <p>Boxes name the first and the last pixel, counted from 1: as detectron2 does, {@code xmin} and
 * {@code ymin} lose 1 and {@code xmax} and {@code ymax} stay, so a box of the whole photograph is
 * that of COCO. mmdetection takes 1 from all four, which loses a row and a column. Many tools write
 * edges that count from 0 under the same names; a folder in which a box begins at 0 is read so.
 *
 * <p>Objects that are {@code difficult} become crowds: training passes over them, and finding them
 * is neither right nor wrong, as in VOC's own measure and mmdetection's converter.
 */
final class VocReader implements LabelReader {

    private static final String SETS = "ImageSets/Main/";

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return samples.have("Pascal VOC");
    }

    @Override
    public ForeignLabels read(Reading reading) {
        SourceFolder folder = reading.folder();
        List<Callable<Drawing>> tasks = new ArrayList<>();
        List<String> files = folder.ending(".xml");
        files.forEach(file -> tasks.add(() -> new File(folder, file).read()));
        Map<String, Drawing> byFile = new LinkedHashMap<>();
        List<Drawing> all = Reading.inParallel(tasks, () -> {});
        for (int i = 0; i < files.size(); i++) {
            byFile.put(files.get(i), all.get(i));
        }
        List<Drawing> drawings = listed(reading, byFile);
        return reading.labels(
                ClassNames.find(
                        folder,
                        reading::report,
                        "classes.txt",
                        "labels.txt",
                        "Annotations/classes.txt"),
                fromZero(reading, drawings));
    }

    /** Moves boxes to where they are on photographs whose upper left corner is 0. */
    private static List<Drawing> fromZero(Reading reading, List<Drawing> drawings) {
        Optional<DrawnObject> zero =
                drawings.stream()
                        .flatMap(drawing -> drawing.objects().stream())
                        .filter(object -> box(object).left() == 0 || box(object).top() == 0)
                        .findFirst();
        if (zero.isPresent()) {
            reading.note(
                    Text.format(
                                    "a box begins at 0 (%s), so they are edges that count from 0, not VOC's pixels",
                                    zero.get().place())
                            + " that count from 1");
            return drawings;
        }
        reading.note("boxes are from the first to the last pixel, counted from 1");
        return drawings.stream().map(VocReader::fromZero).toList();
    }

    private static Drawing fromZero(Drawing drawing) {
        List<DrawnObject> objects = new ArrayList<>();
        for (DrawnObject object : drawing.objects()) {
            Outline.Box box = box(object);
            Outline moved =
                    new Outline.Box(box.left() - 1, box.top() - 1, box.right(), box.bottom());
            objects.add(
                    new DrawnObject(
                            object.place(),
                            object.name(),
                            object.group(),
                            List.of(moved),
                            object.difficult()));
        }
        return drawing.with(objects);
    }

    private static Outline.Box box(DrawnObject object) {
        return (Outline.Box) object.outlines().get(0);
    }

    /** Returns what the lists of parts name, if there are any; else all, by their folders. */
    private static List<Drawing> listed(Reading reading, Map<String, Drawing> drawings) {
        SourceFolder folder = reading.folder();
        NameIndex filesById =
                new NameIndex(
                        drawings.keySet(), file -> SourceFolder.stem(SourceFolder.fileName(file)));
        Listing listing = new Listing();
        for (String list : folder.files()) {
            boolean isList = (list.startsWith(SETS) || list.contains("/" + SETS));
            String name = SourceFolder.fileName(list);
            String sets = SourceFolder.parent(list);
            boolean hasParts = folder.has(sets + "train.txt") || folder.has(sets + "val.txt");
            Optional<Part> part =
                    name.equals("trainval.txt") && !hasParts
                            ? Optional.of(Part.TRAIN)
                            : Part.named(SourceFolder.stem(name));
            if (isList && part.isPresent() && name.endsWith(".txt")) {
                listing.read(reading, list, part, filesOf(list, filesById), ".xml");
            }
        }
        listing.tellRepeated(reading);
        if (listing.parts().isEmpty()) {
            return drawings.values().stream().map(d -> d.of(Part.ofPath(d.photograph()))).toList();
        }
        int left = drawings.size() - listing.parts().size();
        if (left > 0) {
            reading.warning(
                    folder.toString(),
                    Text.format(
                            "%d of %d photographs with labels are in no list of %s, they are left out",
                            left, drawings.size(), SETS));
        }
        return listing.parts().entrySet().stream()
                .map(entry -> drawings.get(entry.getKey()).of(entry.getValue()))
                .toList();
    }

    /** Returns the files of the ids in a list: the nearest, as the years of VOC share ids. */
    private static Map<String, String> filesOf(String list, NameIndex filesById) {
        Map<String, String> files = new LinkedHashMap<>();
        for (String id : filesById.keys()) {
            List<String> nearest = Nearness.nearest(list, filesById.all(id));
            if (nearest.size() == 1) {
                files.put(id, nearest.get(0));
            }
        }
        return files;
    }

    /** One file, and what stands in it. */
    private static final class File implements XmlFile.Visitor {

        private static final String OBJECT = "annotation/object";
        private static final int MOST_OBJECTS = 100_000;

        private final SourceFolder folder;
        private final String file;
        private final String place;
        private final List<DrawnObject> objects = new ArrayList<>();
        private final List<Finding> findings = new ArrayList<>();
        private String photograph = "";
        private int width;
        private int height;
        private String objectPlace = "";
        private String name = "";
        private boolean difficult;
        private final Map<String, Double> edges = new LinkedHashMap<>();
        private boolean isWrong;
        private String attribute = "";
        private double rotation;

        File(SourceFolder folder, String file) {
            this.folder = folder;
            this.file = file;
            this.place = folder.path(file).toString();
        }

        Drawing read() {
            try {
                XmlFile.visit(folder.path(file), this);
            } catch (SaccadeException e) {
                findings.add(Finding.error(place, e));
            }
            Optional<String> photo = photo();
            if (photo.isEmpty()) {
                findings.add(
                        Finding.error(
                                place,
                                "",
                                Text.format(
                                        "there is no photograph %s",
                                        photograph.isEmpty() ? "of this name" : photograph)));
            }
            Optional<Size> declared =
                    width > 0 && height > 0
                            ? Optional.of(new Size(height, width))
                            : Optional.empty();
            return new Drawing(
                    photo.orElse(""),
                    photo.orElse(""),
                    /* embedded= */ false,
                    place,
                    Optional.empty(),
                    declared,
                    /* inFractions= */ false,
                    objects,
                    PhotoObjects.limited(findings));
        }

        /** Returns the photograph of the name of the file; else the one that is named in it. */
        private Optional<String> photo() {
            String stem = SourceFolder.stem(SourceFolder.fileName(file));
            String parent = SourceFolder.parent(file);
            String above = SourceFolder.parent(parent.replaceFirst("/$", ""));
            List<String> folders =
                    ImmutableList.of(parent, above + "JPEGImages/", above + "images/", above, "");
            List<String> same =
                    folders.stream()
                            .map(start -> folder.photographsOf(start + stem))
                            .filter(images -> !images.isEmpty())
                            .findFirst()
                            .orElse(List.of());
            if (same.size() > 1) {
                return named(same);
            }
            return same.stream()
                    .findFirst()
                    .or(
                            () ->
                                    photograph.isEmpty()
                                            ? Optional.empty()
                                            : folders.stream()
                                                    .map(start -> folder.find(start, photograph))
                                                    .flatMap(Optional::stream)
                                                    .findFirst());
        }

        /** Returns which of several images of the name of the file it names itself. */
        private Optional<String> named(List<String> images) {
            String key = SourceFolder.fileName(NameKey.of(photograph));
            Optional<String> image =
                    images.stream()
                            .filter(path -> NameKey.of(SourceFolder.fileName(path)).equals(key))
                            .findFirst();
            if (image.isEmpty()) {
                findings.add(
                        Finding.error(
                                place,
                                "",
                                Text.format(
                                        "may be the labels of %s; expected one of them in <filename>",
                                        String.join(" or ", images))));
            }
            return image;
        }

        @Override
        public void start(String path, XmlFile at) {
            if (path.equals(OBJECT)) {
                rotation = 0;
                attribute = "";
                objectPlace = at.place();
                name = "";
                difficult = false;
                isWrong = false;
                edges.clear();
            } else if (!path.equals("annotation") && !path.startsWith("annotation/")) {
                throw SaccadeException.user("%s: <%s>, expected <annotation>", at.place(), path);
            }
        }

        @Override
        public void end(String path, String text, XmlFile at) {
            switch (path) {
                case "annotation/filename" -> photograph = text;
                case "annotation/size/width" -> width = side(text);
                case "annotation/size/height" -> height = side(text);
                case OBJECT + "/name" -> name = text;
                case OBJECT + "/difficult" -> difficult = text.equals("1") || text.equals("true");
                case OBJECT + "/bndbox/xmin",
                        OBJECT + "/bndbox/ymin",
                        OBJECT + "/bndbox/xmax",
                        OBJECT + "/bndbox/ymax" ->
                        edge(path.substring(path.lastIndexOf('/') + 1), text, at);
                case OBJECT + "/attributes/attribute/name" -> attribute = text;
                case OBJECT + "/attributes/attribute/value" -> {
                    Double degrees = attribute.equals("rotation") ? Doubles.tryParse(text) : null;
                    rotation = degrees != null && Double.isFinite(degrees) ? degrees : rotation;
                }
                case OBJECT -> object();
                default -> {}
            }
        }

        private static int side(String text) {
            Integer side = Ints.tryParse(text);
            return side == null ? 0 : side;
        }

        private void edge(String key, String text, XmlFile at) {
            Double number = Doubles.tryParse(text);
            if (number == null || !Double.isFinite(number)) {
                isWrong = true;
                findings.add(
                        Finding.error(
                                at.place(),
                                "",
                                Text.format(
                                        "%s: got \"%s\", expected a number with a point",
                                        key, text)));
            } else {
                edges.put(key, number);
            }
        }

        private void object() {
            if (isWrong) {
                return;
            }
            if (name.isEmpty() || edges.size() != 4) {
                findings.add(
                        Finding.error(
                                objectPlace,
                                "",
                                name.isEmpty()
                                        ? "an object without a name"
                                        : "an object without a bndbox of xmin, ymin, xmax and"
                                                + " ymax"));
            } else if (objects.size() == MOST_OBJECTS) {
                throw SaccadeException.user("%s: more than %d objects", objectPlace, MOST_OBJECTS);
            } else {
                double left = edges.get("xmin");
                double top = edges.get("ymin");
                Annotation.Bbox around =
                        new Annotation.Bbox(
                                        left,
                                        top,
                                        edges.get("xmax") - left,
                                        edges.get("ymax") - top)
                                .rotated(rotation);
                Outline box =
                        new Outline.Box(
                                around.x(),
                                around.y(),
                                around.x() + around.width(),
                                around.y() + around.height());
                objects.add(new DrawnObject(objectPlace, name, "", List.of(box), difficult));
            }
        }
    }
}

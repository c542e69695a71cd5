package dev.saccade.datasets.convert.formats;

import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.NameKey;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.XmlElement;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Pascal VOC: one XML file per image. If CVAT states a {@code rotation} attribute, the box is the
 * upright box around the rotated one.
 *
 * <p>Boxes state the first and the last pixel, counted from 1: as in detectron2, 1 is subtracted
 * from {@code xmin} and {@code ymin} only, so that a box of the whole image equals COCO's.
 * mmdetection subtracts 1 from all edges, which loses a row and a column. Many tools write edges
 * from 0 under the same names; boxes are read as edges if any box in the folder starts at 0.
 *
 * <p>{@code difficult} objects become crowds: training skips them, and evaluation ignores them, as
 * VOC's own evaluation and mmdetection's converter do.
 */
final class VocReader implements LabelReader {

    private static final String SETS = "ImageSets/Main/";
    private static final List<String> EDGES = List.of("xmin", "ymin", "xmax", "ymax");
    private static final int MAX_OBJECTS = 100_000;

    @Override
    public SourceLabels read(ConversionContext context) {
        SourceFolder folder = context.folder();
        List<String> files = folder.ending(".xml");
        List<ParsedImage> all = context.inParallel(files, file -> new File(folder, file).read());
        Map<String, ParsedImage> byFile = new LinkedHashMap<>();
        for (int i = 0; i < files.size(); i++) {
            byFile.put(files.get(i), all.get(i));
        }
        Map<String, Optional<Split>> splits =
                SplitLists.ofVoc(
                        context,
                        SETS,
                        files,
                        ".xml",
                        "labeled images",
                        file -> Split.ofPath(byFile.get(file).image()));
        splits.forEach((file, split) -> byFile.get(file).setSplit(split));
        List<ParsedImage> images = splits.keySet().stream().map(byFile::get).toList();
        Optional<List<String>> classes =
                context.classNames("classes.txt", "labels.txt", "Annotations/classes.txt");
        countFromZero(context, images);
        return LabelBuilder.build(context, classes, images, Map.of());
    }

    private static void countFromZero(ConversionContext context, List<ParsedImage> images) {
        Optional<ParsedObject> zero =
                images.stream()
                        .flatMap(image -> image.objects().stream())
                        .filter(object -> box(object).left() == 0 || box(object).top() == 0)
                        .findFirst();
        if (zero.isPresent()) {
            context.note(
                    Text.format(
                            "a box starts at 0 (%s), so boxes are read as edges counted from 0, not"
                                    + " as VOC's pixels counted from 1",
                            zero.get().place()));
        } else {
            context.note("boxes are read as first and last pixel, counted from 1");
            images.forEach(image -> image.objects().replaceAll(VocReader::fromZero));
        }
    }

    private static ParsedObject fromZero(ParsedObject object) {
        Outline.Box box = box(object);
        return object.with(
                List.of(new Outline.Box(box.left() - 1, box.top() - 1, box.right(), box.bottom())));
    }

    private static Outline.Box box(ParsedObject object) {
        return (Outline.Box) object.outlines().get(0);
    }

    private static final class File {

        private final SourceFolder folder;
        private final String file;
        private final ParsedImage parsed;
        private String imageName = "";

        File(SourceFolder folder, String file) {
            this.folder = folder;
            this.file = file;
            this.parsed = new ParsedImage(folder.path(file).toString());
        }

        ParsedImage read() {
            parsed.attempt(
                    parsed.place(),
                    () -> XmlElement.forEach(folder.path(file), "annotation", this::read));
            parsed.setImage(
                    image(), imageName.isEmpty() ? "with the name of this file" : imageName);
            return parsed.limitFindings();
        }

        /** Returns the image named like the label file, or else the image in {@code filename}. */
        private Optional<String> image() {
            String stem = SourceFolder.baseName(file);
            String parent = SourceFolder.parent(file);
            String above = SourceFolder.above(parent);
            List<String> folders =
                    List.of(parent, above + "JPEGImages/", above + "images/", above, "");
            for (String start : folders) {
                List<String> same = folder.imagesOf(start + stem);
                if (!same.isEmpty()) {
                    return SourceFolder.only(same).or(() -> named(same));
                }
            }
            return imageName.isEmpty() ? Optional.empty() : folder.findFrom(folders, imageName);
        }

        private Optional<String> named(List<String> images) {
            String key = SourceFolder.fileName(NameKey.of(imageName));
            Optional<String> image =
                    images.stream()
                            .filter(path -> NameKey.of(SourceFolder.fileName(path)).equals(key))
                            .findFirst();
            if (image.isEmpty()) {
                parsed.fault(
                        "may belong to %s; set <filename> to one of them",
                        String.join(" or ", images));
            }
            return image;
        }

        private void read(XmlElement element) {
            switch (element.name()) {
                case "filename" -> imageName = element.text();
                case "size" ->
                        parsed.declare(
                                Ints.tryParse(element.text("width")),
                                Ints.tryParse(element.text("height")));
                case "object" -> {
                    if (parsed.objects().size() == MAX_OBJECTS) {
                        throw SaccadeException.user(
                                "%s: got more than %d objects; split the file",
                                element.place(), MAX_OBJECTS);
                    }
                    parsed.attempt(parsed.place(), () -> add(element));
                }
                default -> {}
            }
        }

        private void add(XmlElement object) {
            String name = object.text("name");
            if (name.isEmpty()) {
                throw SaccadeException.user("%s: object has no name", object.place());
            }
            double[] edges = new double[EDGES.size()];
            for (int i = 0; i < edges.length; i++) {
                edges[i] =
                        object.child("bndbox", EDGES.get(i))
                                .map(XmlElement::number)
                                .orElseThrow(
                                        () ->
                                                SaccadeException.user(
                                                        "%s: object has no bndbox with xmin, ymin,"
                                                                + " xmax and ymax",
                                                        object.place()));
            }
            Annotation.Bbox box =
                    new Annotation.Bbox(
                                    edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1])
                            .rotated(rotation(object));
            Outline outline =
                    new Outline.Box(
                            box.x(), box.y(), box.x() + box.width(), box.y() + box.height());
            boolean isDifficult = object.text("difficult").matches("1|true");
            parsed.objects()
                    .add(new ParsedObject(object.place(), name, "", List.of(outline), isDifficult));
        }

        private static double rotation(XmlElement object) {
            return object.child("attributes").stream()
                    .flatMap(attributes -> attributes.children("attribute").stream())
                    .filter(attribute -> attribute.text("name").equals("rotation"))
                    .map(attribute -> Doubles.tryParse(attribute.text("value")))
                    .filter(degrees -> degrees != null && Double.isFinite(degrees))
                    .findFirst()
                    .orElse(0.0);
        }
    }
}

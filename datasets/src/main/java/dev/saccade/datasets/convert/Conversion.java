package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import javax.imageio.ImageIO;

/**
 * Writes a labeled data set. Objects are written in the {@linkplain TargetFormat formats} asked
 * for, which share {@code images/}; classes of images as folders, unless a format is asked for;
 * label maps in the layout of ADE20K, with 0 for no class and class indices from 1.
 *
 * <p>Images keep their paths below their common folder, so images with the same name do not
 * collide.
 */
public final class Conversion {

    private static final int MAX_CLASSES = 254;

    private final SourceLabels labels;
    private final OutputFolder target;
    private final Runnable onImage;

    private Conversion(SourceLabels labels, OutputFolder target, Runnable onImage) {
        this.labels = labels.withoutCommonFolder();
        this.target = target;
        this.onImage = onImage;
    }

    /** Writes labels, which must not contain faulty images; {@code formats} is for objects. */
    public static void write(
            SourceLabels labels,
            Collection<TargetFormat> formats,
            OutputFolder target,
            Runnable onImage) {
        Conversion conversion = new Conversion(labels, target, onImage);
        try {
            if (labels.pixels().isPresent()) {
                PixelEncoding code = labels.pixels().get();
                conversion.writePixels(image -> code.read(image.map().orElseThrow()));
            } else if (labels.imageClasses() && formats.isEmpty()) {
                conversion.writeFolders();
            } else {
                conversion.writeObjects(formats);
            }
        } catch (IOException e) {
            throw notWritten(e);
        }
    }

    /** Writes the masks of objects as label maps; later objects cover earlier ones. */
    public static void writeLabelMaps(SourceLabels labels, OutputFolder target, Runnable onImage) {
        Problems problems = new Problems();
        Map<String, String> others = new HashMap<>();
        for (LabeledImage image : labels.images()) {
            if (image.regularObjects().stream().anyMatch(Conversion::hasNoMask)) {
                problems.add(
                        "%s: has boxes, but label maps need masks; label masks or polygons",
                        image.name());
            }
            String other = others.putIfAbsent(SourceFolder.stem(image.name()), image.name());
            if (other != null) {
                problems.add("%s and %s need the same label map; rename one", other, image.name());
            }
        }
        problems.throwIfAny("images");
        try {
            new Conversion(labels, target, onImage).writePixels(Conversion::painted);
        } catch (IOException e) {
            throw notWritten(e);
        }
    }

    private static boolean hasNoMask(Annotation object) {
        return object.segmentation() instanceof Segmentation.None;
    }

    private static LabelMap painted(LabeledImage image) {
        Size size = image.size();
        LabelMap map = LabelMap.filled(size, LabelMap.IGNORE);
        for (Annotation object : image.regularObjects()) {
            map =
                    map.paste(
                            object.segmentation().mask(size),
                            LabelMap.filled(size, object.label()));
        }
        return map;
    }

    private static SaccadeException notWritten(IOException e) {
        return SaccadeException.io(
                e, "the converted data set cannot be written: %s", e.getMessage());
    }

    /** Writes a COCO annotation file of all images without the images. */
    public static void writeCoco(SourceLabels labels, OutputFolder target, String name) {
        try (OutputStream out = target.create(name)) {
            CocoWriter.write(labels, out);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", name, e.getMessage());
        }
    }

    private void writeObjects(Collection<TargetFormat> formats) throws IOException {
        for (TargetFormat format : formats) {
            format.writer().write(labels, target);
        }
        for (LabeledImage image : labels.images()) {
            addImage("images/" + image.name(), image);
            onImage.run();
        }
    }

    private void addImage(String name, LabeledImage image) throws IOException {
        if (image.embedded()) {
            write(name, EmbeddedImage.read(image.file()));
        } else {
            target.add(name, image.file());
        }
    }

    /** Writes a folder per split and class; both splits have the folders of all classes. */
    private void writeFolders() throws IOException {
        ClassName.requireFolderNames(labels.classes(), "convert-data");
        for (Split split : Split.values()) {
            for (String name :
                    labels.images(split).isEmpty() ? List.<String>of() : labels.classes()) {
                Files.createDirectories(target.resolve(split.key() + "/" + name));
            }
        }
        for (LabeledImage image : labels.images()) {
            String label = labels.classes().get(image.objects().get(0).label());
            String split = image.split().orElse(Split.TRAIN).key();
            target.add(split + "/" + label + "/" + image.name(), image.file());
            onImage.run();
        }
    }

    private void write(String name, byte[] content) throws IOException {
        try (OutputStream out = target.create(name)) {
            out.write(content);
        }
    }

    private void writePixels(Function<LabeledImage, LabelMap> maps) throws IOException {
        if (labels.classes().size() > MAX_CLASSES) {
            throw SaccadeException.user(
                    "got %d classes, expected at most %d for label maps",
                    labels.classes().size(), MAX_CLASSES);
        }
        String suffix = suffix();
        for (Split split : Split.values()) {
            List<LabeledImage> images = labels.images(split);
            int start = SourceLabels.commonFolder(images).length();
            for (LabeledImage image : images) {
                String name =
                        split.longName() + "/" + SourceFolder.stem(image.name().substring(start));
                addImage("images/" + name + suffix, image);
                writeMap("annotations/" + name + ".png", maps.apply(image));
                onImage.run();
            }
        }
        write("classes.txt", (String.join("\n", labels.classes()) + "\n").getBytes(UTF_8));
    }

    private String suffix() {
        Map<String, Integer> counts = new TreeMap<>();
        for (LabeledImage image : labels.images()) {
            String stem = SourceFolder.stem(image.name());
            counts.merge(image.name().substring(stem.length()), 1, Integer::sum);
        }
        return counts.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(".jpg");
    }

    private void writeMap(String name, LabelMap map) throws IOException {
        Size size = map.size();
        BufferedImage image =
                new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_BYTE_GRAY);
        short[] labelOf = map.toArray();
        byte[] pixels = new byte[labelOf.length];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (labelOf[i] + 1);
        }
        image.getRaster().setDataElements(0, 0, size.width(), size.height(), pixels);
        try (OutputStream out = target.create(name)) {
            ImageIO.write(image, "png", out);
        }
    }
}

package dev.saccade.datasets.convert;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import javax.imageio.ImageIO;

/**
 * Writes labels as this library reads them: objects in COCO's format, {@code
 * annotations_train.json}, {@code annotations_val.json} and {@code images/}; pixels in the layout
 * of ADE20K, with classes that count from 1 and 0 for none.
 *
 * <p>Photographs keep the folders that they are in, below the folder that all of them are in, so
 * none takes the place of another of its name.
 */
public final class Conversion {

    private static final int MOST_CLASSES = 254;

    private final ForeignLabels labels;
    private final OutputFolder target;
    private final Runnable onPhoto;

    private Conversion(ForeignLabels labels, OutputFolder target, Runnable onPhoto) {
        this.labels = labels;
        this.target = target;
        this.onPhoto = onPhoto;
    }

    /**
     * Writes labels.
     *
     * @param labels sound ones
     * @param onPhoto called after each photograph
     */
    public static void write(ForeignLabels labels, OutputFolder target, Runnable onPhoto) {
        Conversion conversion = new Conversion(labels, target, onPhoto);
        if (labels.pixels().isPresent()) {
            conversion.writePixels(labels.pixels().get());
        } else {
            conversion.writeObjects();
        }
    }

    private void writeObjects() {
        String above = above(labels.photos());
        int[] next = {1, 1};
        for (Part part : Part.values()) {
            List<LabeledPhoto> photos = labels.photos(part);
            if (!photos.isEmpty()) {
                try (CocoWriter coco =
                        new CocoWriter(
                                target.create("annotations_" + part.key() + ".json"),
                                labels,
                                next)) {
                    coco.writeImages(photos, above);
                    coco.writeAnnotations(photos);
                } catch (IOException e) {
                    throw unwritten(e);
                }
                for (LabeledPhoto photo : photos) {
                    take("images/" + photo.name().substring(above.length()), photo);
                    onPhoto.run();
                }
            }
        }
    }

    private void take(String name, LabeledPhoto photo) {
        if (!photo.embedded()) {
            target.add(name, photo.file());
            return;
        }
        try (OutputStream out = target.create(name)) {
            out.write(EmbeddedImage.read(photo.file()));
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    private static SaccadeException unwritten(IOException e) {
        return SaccadeException.io(
                e, "the converted data set cannot be written: %s", e.getMessage());
    }

    private void writePixels(PixelCode code) {
        if (labels.classes().size() > MOST_CLASSES) {
            throw SaccadeException.user(
                    "%d classes, label maps of at most %d are written",
                    labels.classes().size(), MOST_CLASSES);
        }
        String ending = ending();
        for (Part part : Part.values()) {
            List<LabeledPhoto> photos = labels.photos(part);
            String above = above(photos);
            for (LabeledPhoto photo : photos) {
                String stem = SourceFolder.stem(photo.name().substring(above.length()));
                target.add("images/" + part.ade20k() + "/" + stem + ending, photo.file());
                LabelMap map = code.read(photo.map().orElseThrow());
                writeMap("annotations/" + part.ade20k() + "/" + stem + ".png", map);
                onPhoto.run();
            }
        }
        try (OutputStream out = target.create("classes.txt")) {
            String lines = String.join("\n", labels.classes()) + "\n";
            out.write(lines.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    /** Returns the ending that most photographs have: the layout knows one for all of them. */
    private String ending() {
        Map<String, Integer> endings = new TreeMap<>();
        for (LabeledPhoto photo : labels.photos()) {
            String stem = SourceFolder.stem(photo.name());
            endings.merge(photo.name().substring(stem.length()), 1, Integer::sum);
        }
        Optional<Map.Entry<String, Integer>> most =
                endings.entrySet().stream().max(Map.Entry.comparingByValue());
        return most.map(Map.Entry::getKey).orElse(".jpg");
    }

    private void writeMap(String name, LabelMap map) {
        Size size = map.size();
        BufferedImage image =
                new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_BYTE_GRAY);
        short[] labelOf = map.toArray();
        byte[] row = new byte[size.width()];
        for (int y = 0; y < size.height(); y++) {
            for (int x = 0; x < row.length; x++) {
                row[x] = (byte) (labelOf[y * row.length + x] + 1);
            }
            image.getRaster().setDataElements(0, y, row.length, 1, row);
        }
        try (OutputStream out = target.create(name)) {
            ImageIO.write(image, "png", out);
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    /** Returns the folder that all photographs are in, with a slash behind it. */
    private static String above(List<LabeledPhoto> photos) {
        Optional<String> common =
                photos.stream()
                        .map(photo -> SourceFolder.parent(photo.name()))
                        .reduce(Conversion::common);
        return common.orElse("");
    }

    private static String common(String a, String b) {
        int end = 0;
        for (int i = 0; i < Math.min(a.length(), b.length()) && a.charAt(i) == b.charAt(i); i++) {
            end = a.charAt(i) == '/' ? i + 1 : end;
        }
        return a.substring(0, end);
    }
}

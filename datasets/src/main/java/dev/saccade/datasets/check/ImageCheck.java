package dev.saccade.datasets.check;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.PixelFile;
import dev.saccade.datasets.image.TarArchive;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

public final class ImageCheck {

    private static final Map<ImageHeader.Kind, String> EXTENSIONS =
            Map.of(
                    ImageHeader.Kind.JPEG, ".*\\.(jpg|jpeg|jpe|jfif)",
                    ImageHeader.Kind.PNG, ".*\\.png",
                    ImageHeader.Kind.BMP, ".*\\.(bmp|dib)",
                    ImageHeader.Kind.TIFF, ".*\\.tiff?",
                    ImageHeader.Kind.WEBP, ".*\\.webp",
                    ImageHeader.Kind.NUMPY, ".*\\.npy");

    private ImageCheck() {}

    /** Returns the faults of an image file, including differences from its declared size. */
    public static List<Finding> findings(ImageFile image, CheckOptions options) {
        String file = image.file().toString();
        String subject = "image " + image.id();
        List<Finding> findings = new ArrayList<>();
        run(image.file(), OptionalLong.of(image.id()), subject, options, findings::add)
                .flatMap(header -> sizeFault(header, image.size()))
                .ifPresent(fault -> findings.add(Finding.error(file, subject, fault)));
        return findings;
    }

    public static void run(
            List<ImageFile> images, CheckOptions options, Consumer<Finding> findings) {
        List<Callable<List<Finding>>> checks = new ArrayList<>();
        images.forEach(image -> checks.add(() -> findings(image, options)));
        try (Workers workers = new Workers("dataset-check", options.threads())) {
            workers.run(
                    checks,
                    found -> {
                        found.forEach(findings);
                        options.onImage().run();
                    });
        }
    }

    /** Reports the faults of a file without a declared size; returns its header if it was read. */
    public static Optional<ImageHeader> run(
            Path file, CheckOptions options, Consumer<Finding> findings) {
        return run(file, OptionalLong.empty(), "", options, findings);
    }

    private static Optional<ImageHeader> run(
            Path path,
            OptionalLong id,
            String subject,
            CheckOptions options,
            Consumer<Finding> findings) {
        if (options.depth() == Depth.LABELS) {
            if (!TarArchive.isFile(path)) {
                findings.accept(Finding.error(path.toString(), subject, "no such file"));
            }
            options.files().image(id, path, OptionalLong.empty());
            return Optional.empty();
        }
        String file = path.toString();
        Consumer<String> warnings =
                message -> findings.accept(Finding.warning(file, subject, message));
        Optional<ImageHeader> header = Optional.empty();
        OptionalLong pixels = OptionalLong.empty();
        try {
            byte[] bytes = ImageReader.readBytes(path);
            ImageHeader read = ImageHeader.read(file, bytes);
            header = Optional.of(read);
            warnOfName(file, read, warnings);
            if (options.targets() != TargetKind.CLASSES) {
                warnOfOrientation(read, warnings);
            }
            if (!options.pixels().isRgb8()) {
                pixels = checkStored(path, options, warnings);
                options.files().image(id, path, pixels);
                return header;
            }
            read.warnings().forEach(warnings);
            ImageReader.check(file, read);
            if (options.depth() == Depth.PIXELS) {
                Mat image = ImageReader.decode(file, read, bytes, warnings);
                pixels = OptionalLong.of(hash(image));
                image.release();
            }
        } catch (SaccadeException e) {
            findings.accept(Finding.error(file, subject, Finding.error(file, e).message()));
        }
        options.files().image(id, path, pixels);
        return header;
    }

    /** Checks an image of another format than 8-bit RGB, and its extra files. */
    private static OptionalLong checkStored(
            Path path, CheckOptions options, Consumer<String> warnings) {
        Mat image;
        try (PixelFile file = PixelFile.open(path, options.pixels())) {
            file.warnings().forEach(warnings);
            file.requireAtMost(ImageInfo.MAX_PIXELS);
            if (options.depth() != Depth.PIXELS) {
                return OptionalLong.empty();
            }
            image = file.read(warnings);
        }
        try {
            options.statistics().accept(ChannelStatistics.of(image));
            return OptionalLong.of(hash(image));
        } finally {
            image.release();
        }
    }

    private static long hash(Mat image) {
        Hasher hasher = Hashing.murmur3_128().newHasher().putInt(image.rows());
        boolean isByte = image.depth() == CvType.CV_8U;
        int values = image.cols() * image.channels();
        byte[] bytes = new byte[isByte ? values : 0];
        float[] floats = new float[isByte ? 0 : values];
        ByteBuffer row = ByteBuffer.allocate(floats.length * Float.BYTES);
        for (int y = 0; y < image.rows(); y++) {
            if (isByte) {
                image.get(y, 0, bytes);
                hasher.putBytes(bytes);
            } else {
                image.get(y, 0, floats);
                row.asFloatBuffer().put(floats);
                hasher.putBytes(row.array());
            }
        }
        return hasher.hash().asLong();
    }

    private static void warnOfName(String file, ImageHeader header, Consumer<String> warnings) {
        if (!file.toLowerCase(Locale.ROOT).matches(EXTENSIONS.get(header.kind()))) {
            warnings.accept("is a " + header.kind() + " file, but has another suffix; rename it");
        }
    }

    /** Warns if the size does not show whether labels refer to the upright or the stored image. */
    private static void warnOfOrientation(ImageHeader header, Consumer<String> warnings) {
        if (header.orientation() != 1 && header.size().equals(header.storedSize())) {
            warnings.accept(
                    Text.format(
                            "has EXIF orientation %d, which keeps its size; browse the data set to"
                                    + " check that its labels match the upright image",
                            header.orientation()));
        }
    }

    private static Optional<String> sizeFault(ImageHeader header, Size declared) {
        if (header.size().equals(declared)) {
            return Optional.empty();
        }
        boolean isUnrotated = header.isTransposed() && header.storedSize().equals(declared);
        String cause =
                "; the boxes refer to the image without EXIF orientation " + header.orientation();
        return Optional.of(
                Text.format(
                        "is %s (height x width), declared as %s%s",
                        header.size(), declared, isUnrotated ? cause : ""));
    }
}

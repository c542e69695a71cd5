package dev.saccade.datasets.check;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageReader;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** What is wrong with one image file. */
public final class ImageCheck {

    private static final Map<ImageHeader.Kind, String> EXTENSIONS =
            Map.of(
                    ImageHeader.Kind.JPEG, ".*\\.(jpg|jpeg|jpe|jfif)",
                    ImageHeader.Kind.PNG, ".*\\.png",
                    ImageHeader.Kind.BMP, ".*\\.(bmp|dib)",
                    ImageHeader.Kind.TIFF, ".*\\.tiff?",
                    ImageHeader.Kind.WEBP, ".*\\.webp");

    private final String file;
    private final OptionalLong id;
    private final Consumer<Finding> findings;

    private ImageCheck(Path file, OptionalLong id, Consumer<Finding> findings) {
        this.file = file.toString();
        this.id = id;
        this.findings = findings;
    }

    /**
     * Returns all that is wrong with the file of an image, compared with its declared size.
     *
     * @param options what is read of it; the pixels reveal damage behind the header
     */
    public static List<Finding> findings(ImageFile photo, CheckOptions options) {
        List<Finding> findings = new ArrayList<>();
        ImageCheck check = new ImageCheck(photo.file(), OptionalLong.of(photo.id()), findings::add);
        check.run(options).ifPresent(header -> check.checkSize(header, photo.size()));
        return findings;
    }

    /** Reports all that is wrong with the files of photographs. */
    public static void run(
            List<ImageFile> photos, CheckOptions options, Consumer<Finding> findings) {
        List<Callable<List<Finding>>> checks = new ArrayList<>();
        photos.forEach(photo -> checks.add(() -> findings(photo, options)));
        try (Workers workers = new Workers("dataset-check", options.threads())) {
            workers.run(
                    checks,
                    found -> {
                        found.forEach(findings);
                        options.onImage().run();
                    });
        }
    }

    /**
     * Reports all that is wrong with a file whose size is not declared anywhere.
     *
     * @return what it says about itself, if it can be read
     */
    public static Optional<ImageHeader> run(
            Path file, CheckOptions options, Consumer<Finding> findings) {
        return new ImageCheck(file, OptionalLong.empty(), findings).run(options);
    }

    private Optional<ImageHeader> run(CheckOptions options) {
        if (options.depth() == Depth.LABELS) {
            options.files().image(id, Path.of(file), OptionalLong.empty());
            return Optional.empty();
        }
        ImageHeader header = null;
        OptionalLong pixels = OptionalLong.empty();
        try {
            byte[] bytes = ImageReader.readBytes(Path.of(file));
            header = ImageHeader.read(file, bytes);
            checkName(header);
            checkOrientation(header);
            header.warnings().forEach(this::warning);
            ImageReader.check(file, header);
            if (options.depth() == Depth.PIXELS) {
                pixels =
                        OptionalLong.of(
                                hash(ImageReader.decode(file, header, bytes, this::warning)));
            }
        } catch (SaccadeException e) {
            error(Finding.error(file, e).message());
        }
        options.files().image(id, Path.of(file), pixels);
        return Optional.ofNullable(header);
    }

    /** Returns a hash of size and pixels, and frees them. */
    private static long hash(Mat image) {
        Hasher hasher = Hashing.murmur3_128().newHasher().putInt(image.rows());
        byte[] row = new byte[image.cols() * image.channels()];
        for (int y = 0; y < image.rows(); y++) {
            image.get(y, 0, row);
            hasher.putBytes(row);
        }
        image.release();
        return hasher.hash().asLong();
    }

    private String subject() {
        return id.isPresent() ? "image " + id.getAsLong() : "";
    }

    private void checkName(ImageHeader header) {
        String name = file.toLowerCase(Locale.ROOT);
        if (!name.matches(EXTENSIONS.get(header.kind()))) {
            warning("is a " + header.kind() + " by its content, its name says otherwise");
        }
    }

    /** Where turning keeps the size, no declared size reveals labels of the image as stored. */
    private void checkOrientation(ImageHeader header) {
        if (header.orientation() != 1 && header.size().equals(header.stored())) {
            warning(
                    "is turned upright by its EXIF orientation "
                            + header.orientation()
                            + ", which keeps its size; check that its labels are for the upright"
                            + " image (saccade browse)");
        }
    }

    private void checkSize(ImageHeader header, Size declared) {
        if (header.size().equals(declared)) {
            return;
        }
        String message = "is " + header.size() + " (height x width), declared as " + declared;
        if (header.turned() && header.stored().equals(declared)) {
            message +=
                    ": the boxes were drawn without turning the image upright, EXIF orientation "
                            + header.orientation();
        }
        error(message);
    }

    private void error(String message) {
        findings.accept(Finding.error(file, subject(), message));
    }

    private void warning(String message) {
        findings.accept(Finding.warning(file, subject(), message));
    }
}

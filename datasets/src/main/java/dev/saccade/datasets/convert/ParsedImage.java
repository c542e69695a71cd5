package dev.saccade.datasets.convert;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.Reporter;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The labels of an image, collected while a label file is parsed. */
public final class ParsedImage implements Reporter {

    private static final int MAX_FINDINGS = 100;
    private static final Pattern LINE = Pattern.compile(":(\\d{1,9})(:\\d+)?$");

    private final String place;
    private final List<ParsedObject> objects = new ArrayList<>();
    private List<Finding> findings = new ArrayList<>();
    private String image = "";
    private String file = "";
    private Optional<Split> split = Optional.empty();
    private Optional<Size> declared = Optional.empty();

    /** Creates an image; {@code place} is the label file, and the line if it has several images. */
    public ParsedImage(String place) {
        this.place = place;
    }

    public String place() {
        return place;
    }

    @Override
    public void accept(Finding finding) {
        findings.add(finding);
    }

    @FormatMethod
    public void fault(@FormatString String message, Object... args) {
        accept(Finding.error(place, "", Text.format(message, args)));
    }

    public List<ParsedObject> objects() {
        return objects;
    }

    /** Returns the relative path of the image; empty if it was not found. */
    public String image() {
        return image;
    }

    /** Returns the file with the pixels: the image, or a label file that embeds it. */
    public String file() {
        return file;
    }

    public boolean embedded() {
        return !file.equals(image);
    }

    /** Sets the image, or reports that the image with this name is missing. */
    public void setImage(Optional<String> found, String name) {
        found.ifPresentOrElse(
                path -> setImage(path, path), () -> fault("image %s does not exist", name));
    }

    /** Sets the image and the file with its pixels. */
    public void setImage(String path, String pixels) {
        image = path;
        file = pixels;
    }

    public Optional<Split> split() {
        return split;
    }

    public void setSplit(Optional<Split> known) {
        split = known;
    }

    public Optional<Size> declared() {
        return declared;
    }

    /** Sets the size stated by the labels; ignored if a side is null or not positive. */
    public void declare(Integer width, Integer height) {
        if (width != null && height != null && width > 0 && height > 0) {
            declared = Optional.of(new Size(height, width));
        }
    }

    public List<Finding> findings() {
        return findings;
    }

    /** Keeps the first 100 findings by line, and the number of the rest; returns this image. */
    public ParsedImage limitFindings() {
        findings = new ArrayList<>(limited(findings));
        return this;
    }

    /** Returns the first 100 findings by line, and a finding with the number of the rest. */
    static List<Finding> limited(List<Finding> findings) {
        List<Finding> sorted =
                findings.stream().sorted(Comparator.comparing(ParsedImage::line)).toList();
        if (sorted.size() <= MAX_FINDINGS) {
            return sorted;
        }
        List<Finding> most = new ArrayList<>(sorted.subList(0, MAX_FINDINGS));
        String file = sorted.get(MAX_FINDINGS).file();
        String more = Text.format("and %d more", sorted.size() - MAX_FINDINGS);
        boolean hasErrors = sorted.stream().anyMatch(Finding::isError);
        most.add(hasErrors ? Finding.error(file, "", more) : Finding.warning(file, "", more));
        return most;
    }

    private static int line(Finding finding) {
        Matcher line = LINE.matcher(finding.file());
        return line.find() ? Integer.parseInt(line.group(1)) : 0;
    }
}

package dev.saccade.datasets.labels;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.IndexPng;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The label map of an image: a PNG with the class of every pixel. */
public record LabelFile(Path image, Path labels) {

    /** Reads the label map; throws if its size differs from the upright image. */
    public LabelMap read(LabelEncoding code, Size size) {
        LabelMap map = code.decode(labels);
        if (!map.size().equals(size)) {
            throw SaccadeException.user(
                    "%s: %s", labels, sizeFault(map.size(), ImageHeader.read(image)));
        }
        return map;
    }

    /** Checks the label map, including its size if the size of the upright image is known. */
    public LabelCheck.Result check(LabelEncoding code, Optional<Size> size) {
        List<Finding> findings = new ArrayList<>();
        Reporter faults = findings::add;
        String file = labels.toString();
        try {
            IndexPng png = IndexPng.read(labels);
            if (size.isPresent() && !size.get().equals(png.size())) {
                faults.error(file, "%s", sizeFault(png.size(), ImageHeader.read(image)));
            }
            code.fault(png).ifPresent(fault -> faults.error(file, "%s", fault));
            long[] counts = code.count(png);
            return LabelCheck.Result.of(findings, file, "", counts, png.size().area());
        } catch (SaccadeException e) {
            findings.add(Finding.error(file, e));
            return new LabelCheck.Result(findings, Optional.empty());
        }
    }

    private String sizeFault(Size size, ImageHeader header) {
        String fault =
                Text.format(
                        "is %s (height x width), but its image %s is %s%s",
                        size, image, header.size(), header.isTransposed() ? " upright" : "");
        return header.isTransposed() && size.equals(header.storedSize())
                ? fault
                        + "; it refers to the image without EXIF orientation "
                        + header.orientation()
                : fault;
    }
}

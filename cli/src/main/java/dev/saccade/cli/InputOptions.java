package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import picocli.CommandLine.Option;

/** Options of commands that build a model without data. */
final class InputOptions {

    @Option(
            names = "--size",
            paramLabel = "HxW",
            defaultValue = "800x1344",
            description =
                    "Set height and width of the model input in pixels. Default:"
                            + " ${DEFAULT-VALUE}.")
    private String size;

    @Option(
            names = "--classes",
            paramLabel = "N",
            defaultValue = "80",
            description = "Set the number of classes. Default: ${DEFAULT-VALUE}.")
    private int classes;

    Size size() {
        return size(size);
    }

    static Size size(String text) {
        try {
            String[] sides = text.split("x", -1);
            if (sides.length == 2) {
                Size parsed = new Size(Integer.parseInt(sides[0]), Integer.parseInt(sides[1]));
                if (parsed.height() > 0
                        && parsed.width() > 0
                        && parsed.area() <= ImageInfo.MAX_PIXELS) {
                    return parsed;
                }
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw SaccadeException.user(
                "--size %s: expected HEIGHTxWIDTH, such as 800x1344, at most %d"
                        + " million pixels",
                text, ImageInfo.MAX_PIXELS / 1_000_000);
    }

    int classes() {
        ConfigArguments.requirePositive("--classes", classes);
        return classes;
    }
}

package dev.saccade.core;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A libtorch build; {@code cuda} is its CUDA version, such as {@code 12.6}, or empty for CPUs. */
public record LibtorchBuild(Path folder, String version, Optional<String> cuda) {

    /** Version files next to the folder, in Python's torch and in PyTorch's archives. */
    private static final String OF_PYTHON = "version.py";

    private static final String OF_ARCHIVE = "build-version";

    private static final Pattern PYTHON_VERSION =
            Pattern.compile("^__version__ = '([^'+]+)", Pattern.MULTILINE);

    private static final Pattern PYTHON_CUDA =
            Pattern.compile("^cuda\\b.*= '([0-9.]+)'", Pattern.MULTILINE);

    private static final Pattern ARCHIVE =
            Pattern.compile("([0-9.]+)(?:\\+(?:cpu|cu(\\d+)(\\d)))?");

    /** Name of a folder in DJL's cache. */
    private static final Pattern DJL = Pattern.compile("([0-9.]+).*-(?:cpu|cu(\\d+)(\\d))-.*");

    /** Reads the version of the libtorch in a folder; empty if unknown. */
    static Optional<LibtorchBuild> read(Path folder) {
        Path beside = folder.toAbsolutePath().resolveSibling(OF_PYTHON);
        if (Files.isRegularFile(beside)) {
            return ofPython(folder, text(beside));
        }
        Path archive = folder.toAbsolutePath().resolveSibling(OF_ARCHIVE);
        boolean isArchive = Files.isRegularFile(archive);
        String text = isArchive ? text(archive).strip() : folder.getFileName().toString();
        Matcher parts = (isArchive ? ARCHIVE : DJL).matcher(text);
        return parts.matches()
                ? Optional.of(
                        new LibtorchBuild(
                                folder,
                                parts.group(1),
                                Optional.ofNullable(parts.group(2))
                                        .map(major -> major + "." + parts.group(3))))
                : Optional.empty();
    }

    private static Optional<LibtorchBuild> ofPython(Path folder, String text) {
        Matcher cuda = PYTHON_CUDA.matcher(text);
        Optional<String> builtFor = cuda.find() ? Optional.of(cuda.group(1)) : Optional.empty();
        Matcher version = PYTHON_VERSION.matcher(text);
        return version.find()
                ? Optional.of(new LibtorchBuild(folder, version.group(1), builtFor))
                : Optional.empty();
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Returns the build's major CUDA version, which the driver must support; empty for CPUs. */
    Optional<Integer> cudaMajor() {
        return cuda.map(number -> Integer.valueOf(number.replaceFirst("\\..*", "")));
    }

    @Override
    public String toString() {
        return version + cuda.map(number -> " for CUDA " + number).orElse(" for CPUs");
    }
}

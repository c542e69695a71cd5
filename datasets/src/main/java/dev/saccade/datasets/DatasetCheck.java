package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** Finds every fault of a COCO data set in one pass over its annotations and images. */
public final class DatasetCheck {

    private static final int MOST_FINDINGS = 10_000;

    private final Path annotations;
    private final Path images;
    private final List<String> classes;
    private final List<Finding> findings = new ArrayList<>();
    private int errors;
    private int warnings;

    private DatasetCheck(Path annotations, Path images, List<String> classes) {
        this.annotations = annotations;
        this.images = images;
        this.classes = classes;
    }

    /**
     * How thoroughly is looked, and for what.
     *
     * @param decode whether pixels are decoded; otherwise only headers and ends of files are read
     * @param masks whether masks are learned, so that every usable object needs an outline
     * @param threads how many images are read at once
     * @param onImage called after each image, from the calling thread, to show progress
     */
    public record Options(boolean decode, boolean masks, int threads, Runnable onImage) {}

    /**
     * Returns what the data set holds and all that is wrong with it; nothing is thrown for it.
     *
     * @param classes the wanted classes; all if empty
     */
    public static DatasetReport run(
            Path annotations, Path images, List<String> classes, Options options) {
        return new DatasetCheck(annotations, images, classes).run(options);
    }

    private DatasetReport run(Options options) {
        String file = annotations.toString();
        CocoColumns columns;
        try {
            columns = CocoReader.read(annotations, this::add);
        } catch (SaccadeException e) {
            String message = e.getMessage();
            add(Finding.error(file, "", message.replaceFirst("^\\Q" + file + "\\E:? ?", "")));
            columns = new CocoColumns.Builder().build();
        }
        CocoReferences references = new CocoReferences(columns, file, images);
        references.check(this::add);
        Set<Long> masked = options.masks() ? columns.categories(classes) : Set.of();
        new CocoGeometry(columns, file, masked).check(this::add);
        checkImages(columns, references, options);
        return new DatasetReport(DatasetStatistics.of(columns), errors, warnings, findings);
    }

    private void add(Finding finding) {
        switch (finding.severity()) {
            case ERROR -> errors++;
            case WARNING -> warnings++;
        }
        if (findings.size() < MOST_FINDINGS) {
            findings.add(finding);
        }
    }

    private void checkImages(CocoColumns columns, CocoReferences references, Options options) {
        ExecutorService threads = Workers.start("dataset-check", options.threads());
        try {
            List<Future<List<Finding>>> checks = new ArrayList<>();
            for (int i = 0; i < columns.fileNames().size(); i++) {
                Optional<Path> file = references.locate(columns.fileNames().get(i));
                if (file.isPresent()) {
                    long id = columns.imageIds().get(i);
                    Photo photo = new Photo(id, file.get(), columns.imageSize(i));
                    checks.add(threads.submit(() -> ImageCheck.findings(photo, options.decode())));
                }
            }
            for (Future<List<Finding>> check : checks) {
                check.get().forEach(this::add);
                options.onImage().run();
            }
        } catch (ExecutionException e) {
            throw SaccadeException.internal(e, "checking an image failed: %s", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "interrupted while checking images");
        } finally {
            threads.shutdownNow();
        }
    }
}

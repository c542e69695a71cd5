package dev.saccade.datasets.combined;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.Lists;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DatasetCheck;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Concatenates data sets with the same classes, like mmengine's {@code ConcatDataset}. Image and
 * annotation ids are numbered from 1.
 */
public final class ConcatDataset implements Dataset {

    private static final String NAME = "concat";
    private static final int MAX_SIZE = 1 << 30;

    private final List<Part> parts;
    private final int[] starts;
    private final int size;

    /**
     * Settings of the concatenated data sets.
     *
     * @param repeats how often each data set occurs, like mmengine's {@code RepeatDataset}; once by
     *     default. Repetitions are consecutive and augmented independently
     */
    @Component(NAME)
    public record Config(
            @Default("[{type: coco}]") List<Dataset.Config> datasets,
            @Default("[]") List<Integer> repeats)
            implements Dataset.Config {

        private static final int MAX_DATASETS = 1000;

        public Config {
            datasets = List.copyOf(datasets);
            repeats = List.copyOf(repeats);
            new Checks()
                    .size("datasets", datasets, 1, MAX_DATASETS)
                    .each("repeats", repeats, 1, MAX_SIZE)
                    .throwIfAny();
            Checks.require(
                    repeats.isEmpty() || repeats.size() == datasets.size(),
                    "repeats",
                    repeats,
                    "one number for each of the %s data sets",
                    datasets.size());
        }

        @Override
        public ConcatDataset open(Path root) {
            return new ConcatDataset(
                    datasets.stream().map(each -> each.open(root)).toList(), repeats);
        }

        /** Checks the label files of each data set, then the images of all. */
        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            CheckOptions labelFiles = options.ofLabelFiles();
            for (Dataset.Config part : datasets) {
                DatasetReport report = part.check(root, labelFiles);
                if (report.errors() > 0) {
                    return report;
                }
            }
            try {
                ConcatDataset all = open(root);
                return DatasetCheck.run(DatasetSubset.spread(all, all.size()), options);
            } catch (SaccadeException e) {
                return datasets.get(0).check(root, labelFiles).withError(Finding.error(NAME, e));
            }
        }

        @Override
        public boolean repeatsImages() {
            return repeats.stream().anyMatch(times -> times > 1)
                    || datasets.stream().anyMatch(Dataset.Config::repeatsImages);
        }

        @Override
        public boolean lacksLabels() {
            return datasets.stream().anyMatch(Dataset.Config::lacksLabels);
        }

        @Override
        public List<String> knownClasses() {
            return datasets.get(0).knownClasses();
        }
    }

    /**
     * A data set and its place in the concatenation.
     *
     * @param start index of its first image
     * @param imageId id of its first image
     * @param annotationIds id of the first annotation of each image
     */
    private record Part(
            Dataset dataset, int repeats, int start, long imageId, List<Long> annotationIds) {

        int size() {
            return dataset.size() * repeats;
        }
    }

    /**
     * Concatenates data sets, which must not change.
     *
     * @param repeats how often each data set occurs; once if empty
     * @throws SaccadeException of kind user, if the classes differ
     */
    public ConcatDataset(List<? extends Dataset> datasets, List<Integer> repeats) {
        List<Part> all = new ArrayList<>();
        long start = 0;
        long imageId = 1;
        long annotationId = 1;
        for (int i = 0; i < datasets.size(); i++) {
            Dataset dataset = datasets.get(i);
            requireSame(datasets.get(0), dataset, i);
            List<Long> annotationIds = new ArrayList<>(dataset.size());
            for (int k = 0; k < dataset.size(); k++) {
                annotationIds.add(annotationId);
                annotationId += dataset.annotations(k).size();
            }
            Part part =
                    new Part(
                            dataset,
                            repeats.isEmpty() ? 1 : repeats.get(i),
                            Math.toIntExact(start),
                            imageId,
                            annotationIds);
            all.add(part);
            start += (long) dataset.size() * part.repeats;
            imageId += dataset.size();
            if (start > MAX_SIZE) {
                throw SaccadeException.user(
                        "concat: got more than %d images; lower repeats", MAX_SIZE);
            }
        }
        this.parts = List.copyOf(all);
        this.starts = parts.stream().mapToInt(Part::start).toArray();
        this.size = Math.toIntExact(start);
    }

    private static void requireSame(Dataset first, Dataset other, int index) {
        if (!other.classes().equals(first.classes())
                || other.semanticClasses() != first.semanticClasses()) {
            throw SaccadeException.user(
                    "concat: data set %d has classes %s, but data set 1 has %s; use the same"
                            + " classes in the same order",
                    index + 1, other.classes(), first.classes());
        }
    }

    private Part part(int index) {
        int found = Arrays.binarySearch(starts, index);
        if (found < 0) {
            return parts.get(-found - 2);
        }
        // An empty data set starts at the same index as the next one.
        return IntStream.range(found, parts.size())
                .mapToObj(parts::get)
                .filter(each -> each.start == index && each.size() > 0)
                .findFirst()
                .orElseThrow(() -> new IndexOutOfBoundsException(index));
    }

    private static int local(Part part, int index) {
        return (index - part.start) / part.repeats;
    }

    @Override
    public List<String> classes() {
        return parts.get(0).dataset.classes();
    }

    @Override
    public long categoryId(int label) {
        return parts.get(0).dataset.categoryId(label);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public ImageFile image(int index) {
        Part part = part(index);
        int local = local(part, index);
        ImageFile image = part.dataset.image(local);
        return new ImageFile(part.imageId + local, image.file(), image.size());
    }

    @Override
    public List<ImageFile> images() {
        return Lists.transform(ContiguousSet.closedOpen(0, size).asList(), this::image);
    }

    @Override
    public int repetition(int index) {
        Part part = part(index);
        return part.dataset.repetition(local(part, index)) * part.repeats
                + (index - part.start) % part.repeats;
    }

    @Override
    public List<Annotation> annotations(int index) {
        Part part = part(index);
        int local = local(part, index);
        List<Annotation> annotations = part.dataset.annotations(local);
        long first = part.annotationIds.get(local);
        return IntStream.range(0, annotations.size())
                .mapToObj(i -> annotations.get(i).with(first + i, annotations.get(i).label()))
                .toList();
    }

    @Override
    public OptionalInt label(int index) {
        Part part = part(index);
        return part.dataset.label(local(part, index));
    }

    @Override
    public int semanticClasses() {
        return parts.get(0).dataset.semanticClasses();
    }

    @Override
    public LabelMap labels(int index) {
        Part part = part(index);
        return part.dataset.labels(local(part, index));
    }
}

package dev.saccade.datasets.coco;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ObjectCheck;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Photographs labeled in a COCO annotation file ({@code instances_*.json}).
 *
 * <p>There may be label maps beside the objects, as those of COCO-Stuff.
 *
 * <p>Photographs come in the order of the file, not of their ids; so do the annotations of each.
 */
public final class CocoDataset implements Dataset {

    private static final Logger log = LoggerFactory.getLogger(CocoDataset.class);
    static final int UNWANTED = -1;

    /**
     * Classes of the label maps of COCO-Stuff: things and stuff by their ids, and one for other.
     */
    private static final int STUFF_CLASSES = 183;

    /** The files of COCO 2017, whose classes are known. */
    private static final Pattern COCO_2017 =
            Pattern.compile("(.*/)?instances_(train|val)2017.json");

    private final AnnotationTable table;
    private final ImmutableList<Path> files;
    private final ImmutableMap<Long, Integer> labels;
    private final ImmutableList<String> classes;
    private final ImmutableLongArray categoryIds;
    private final int[] firstRow;
    private final int[] rows;
    private final Optional<LabelMaps> labelMaps;

    /**
     * Where a COCO data set lies.
     *
     * @param annotations the JSON file, relative to the root of the data
     * @param images the folder that {@code file_name} starts from, relative to the root
     * @param classes the wanted classes; all categories of the file if empty. Labels follow the
     *     order of the categories in the file either way, as in mmdetection
     * @param labelMaps the folder of label maps beside the objects, PNGs of the names of the
     *     photographs in which 255 is no class, such as {@code stuffthingmaps/train2017}, relative
     *     to the root; none for data sets of objects alone
     * @param labelMapClasses how many classes these have
     */
    @Part("coco")
    public record Config(
            @Default("annotations/instances_train2017.json") String annotations,
            @Default("train2017") String images,
            @Default("[]") List<String> classes,
            Optional<String> labelMaps,
            @Default("183") int labelMapClasses)
            implements Dataset.Config {

        /** Keeps a copy of the list. */
        public Config {
            classes = List.copyOf(classes);
            new Checks().within("label_map_classes", labelMapClasses, 1, 255).throwIfAny();
        }

        /** Names a data set of objects alone. */
        public Config(String annotations, String images, List<String> classes) {
            this(annotations, images, classes, Optional.empty(), STUFF_CLASSES);
        }

        @Override
        public CocoDataset open(Path root) {
            requireRoot(root);
            return CocoDataset.open(
                    root.resolve(annotations), root.resolve(images), classes, maps(root));
        }

        private void requireRoot(Path root) {
            List<String> paths = new ArrayList<>(List.of(annotations, images));
            labelMaps.ifPresent(paths::add);
            DataFolder.requireRoot(root, paths.toArray(String[]::new));
        }

        private Optional<LabelMaps> maps(Path root) {
            return labelMaps.map(folder -> new LabelMaps(root.resolve(folder), labelMapClasses));
        }

        @Override
        public List<String> knownClasses() {
            return classes.isEmpty() && COCO_2017.matcher(annotations).matches()
                    ? CocoClasses.NAMES
                    : List.of();
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            requireRoot(root);
            return CocoCheck.run(
                    root.resolve(annotations), root.resolve(images), classes, maps(root), options);
        }
    }

    private CocoDataset(
            AnnotationTable table,
            List<Path> files,
            List<String> wanted,
            Optional<LabelMaps> labelMaps) {
        this.table = table;
        this.labelMaps = labelMaps;
        this.files = ImmutableList.copyOf(files);
        ImmutableMap.Builder<Long, Integer> labelOf = ImmutableMap.builder();
        ImmutableList.Builder<String> names = ImmutableList.builder();
        ImmutableLongArray.Builder ids = ImmutableLongArray.builder();
        int label = 0;
        for (int i = 0; i < table.categoryNames().size(); i++) {
            if (wanted.isEmpty() || wanted.contains(table.categoryNames().get(i))) {
                labelOf.put(table.categoryIds().get(i), label++);
                names.add(table.categoryNames().get(i));
                ids.add(table.categoryIds().get(i));
            }
        }
        this.labels = labelOf.buildOrThrow();
        this.classes = names.build();
        this.categoryIds = ids.build();
        this.firstRow = new int[table.imageIds().length() + 1];
        this.rows = new int[table.annotationIds().length()];
        groupByImage();
    }

    /** Sorts the rows by image, keeping their order within one (a counting sort). */
    private void groupByImage() {
        Map<Long, Integer> imageOf = table.imagesById();
        int[] imageOfRow = new int[rows.length];
        for (int row = 0; row < rows.length; row++) {
            imageOfRow[row] = imageOf.get(table.annotationImageIds().get(row));
            firstRow[imageOfRow[row] + 1]++;
        }
        for (int i = 1; i < firstRow.length; i++) {
            firstRow[i] += firstRow[i - 1];
        }
        int[] next = firstRow.clone();
        for (int row = 0; row < rows.length; row++) {
            rows[next[imageOfRow[row]]++] = row;
        }
    }

    /**
     * Returns the data set of an annotation file.
     *
     * @param images the folder that {@code file_name} starts from and may not leave
     * @param classes the wanted classes; all if empty
     * @throws SaccadeException if the file is faulty; lists the first faults with their places
     */
    public static CocoDataset open(Path annotations, Path images, List<String> classes) {
        return open(annotations, images, classes, Optional.empty());
    }

    private static CocoDataset open(
            Path annotations, Path images, List<String> classes, Optional<LabelMaps> labelMaps) {
        Findings findings = new Findings();
        AnnotationTable table = CocoReader.read(annotations, findings);
        CocoReferences references = new CocoReferences(table, annotations.toString(), images);
        references.check(classes, findings);
        findings.problems().throwIfAny(annotations.toString());
        findings.kept().forEach(finding -> log.warn("{}", finding));
        CocoDataset dataset = new CocoDataset(table, references.files(), classes, labelMaps);
        if (!classes.isEmpty() && !dataset.classes().equals(classes)) {
            log.warn(
                    "labels follow the order of the categories in the file, not of the config"
                            + " file={} classes={}",
                    annotations,
                    dataset.classes());
        }
        return dataset;
    }

    /**
     * Returns the content of an annotation file with all its classes, wherever its images are;
     * nothing if its parts do not fit together. The data set has no {@link #images}.
     *
     * @param findings told of all that is wrong with the file
     * @throws SaccadeException if there is no such file, or it is no JSON; names line and column
     */
    public static Optional<CocoDataset> read(Path annotations, Consumer<Finding> findings) {
        Findings found = new Findings();
        AnnotationTable table = CocoReader.read(annotations, found);
        String file = annotations.toString();
        new CocoReferences(table, file, Path.of("")).checkContent(List.of(), found);
        boolean isSound = !found.hasErrors();
        if (isSound) {
            Set<Long> wanted = table.categories(List.of());
            new ObjectCheck(table, file, wanted, Set.of()).check(found);
        }
        found.kept().forEach(findings);
        return isSound
                ? Optional.of(new CocoDataset(table, List.of(), List.of(), Optional.empty()))
                : Optional.empty();
    }

    /** Returns the {@code file_name} of each image. */
    public List<String> fileNames() {
        return table.fileNames();
    }

    /** Returns the id of an image. */
    public long imageId(int index) {
        return table.imageIds().get(index);
    }

    /** Returns the size of an image that the file states. */
    public Size imageSize(int index) {
        return table.imageSize(index);
    }

    /**
     * Returns the image that an image is an augmented copy of, as Roboflow's {@code extra.name}.
     */
    public String source(int index) {
        return table.sources().get(index);
    }

    @Override
    public int size() {
        return table.imageIds().length();
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public long categoryId(int label) {
        return categoryIds.get(label);
    }

    @Override
    public List<ImageFile> images() {
        return Lists.transform(ContiguousSet.closedOpen(0, files.size()).asList(), this::read);
    }

    private ImageFile read(int index) {
        return new ImageFile(table.imageIds().get(index), files.get(index), table.imageSize(index));
    }

    @Override
    public int semanticClasses() {
        return labelMaps.map(LabelMaps::classes).orElse(0);
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException if there are no label maps beside the objects, or that of the
     *     photograph cannot be used; names it
     */
    @Override
    public LabelMap labels(int index) {
        return labelMaps.isPresent()
                ? labelMaps.get().read(image(index), table.fileNames().get(index))
                : Dataset.super.labels(index);
    }

    @Override
    public List<Annotation> annotations(int index) {
        ImmutableList.Builder<Annotation> annotations = ImmutableList.builder();
        for (int k = firstRow[index]; k < firstRow[index + 1]; k++) {
            long category = table.annotationCategoryIds().get(rows[k]);
            annotations.add(table.annotation(rows[k], labels.getOrDefault(category, UNWANTED)));
        }
        return annotations.build();
    }
}

package dev.saccade.datasets.coco;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.Lists;
import com.google.common.collect.Multimaps;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.Category;
import dev.saccade.datasets.AnnotationTable.ImageRow;
import dev.saccade.datasets.AnnotationTable.Row;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ResourceLines;
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
import java.util.stream.IntStream;

/**
 * Images labeled in a COCO annotation file ({@code instances_*.json}), optionally with label maps
 * such as COCO-Stuff's.
 *
 * <p>Images and their annotations are in the order of the file.
 */
public final class CocoDataset implements Dataset {

    private static final Logger log = LoggerFactory.getLogger(CocoDataset.class);
    static final int NOT_SELECTED = -1;

    /** Number of classes in COCO-Stuff's label maps: thing and stuff ids, and "other". */
    private static final int STUFF_CLASSES = 183;

    /** The 80 classes of COCO in the order of its annotation files. */
    private static final List<String> COCO_CLASSES =
            ResourceLines.read(CocoDataset.class, "classes.txt");

    private static final Pattern COCO_2017 =
            Pattern.compile("(.*/)?instances_(train|val)2017.json");

    private final List<ImageRow> rows;
    private final List<Path> files;
    private final List<Category> categories;
    private final Map<Long, Integer> labels;
    private final ListMultimap<Long, Row> annotations;
    private final Optional<LabelMaps> labelMaps;

    /**
     * Settings of a COCO data set. Paths are relative to the root of the data.
     *
     * @param annotations the JSON file
     * @param images folder that {@code file_name} is relative to
     * @param classes the selected classes; all categories of the file if empty. Labels follow the
     *     order of the categories in the file in both cases, as in mmdetection
     * @param labelMaps folder of optional label maps, such as {@code stuffthingmaps/train2017}:
     *     PNGs named like the images, in which 255 means no class
     * @param labelMapClasses number of classes of the label maps
     */
    @Component("coco")
    public record Config(
            @Default("annotations/instances_train2017.json") String annotations,
            @Default("train2017") String images,
            @Default("[]") List<String> classes,
            Optional<String> labelMaps,
            @Default("183") int labelMapClasses)
            implements Dataset.Config {

        public Config {
            classes = List.copyOf(classes);
            new Checks().inRange("label_map_classes", labelMapClasses, 1, 255).throwIfAny();
        }

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
                    ? COCO_CLASSES
                    : List.of();
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            requireRoot(root);
            return new CocoCheck(
                            root.resolve(annotations), root.resolve(images), classes, maps(root))
                    .run(options);
        }
    }

    private CocoDataset(
            AnnotationTable table,
            List<Path> files,
            List<String> selectedNames,
            Optional<LabelMaps> labelMaps) {
        this.rows = table.images();
        this.files = List.copyOf(files);
        this.categories =
                table.categories().stream()
                        .filter(
                                each ->
                                        selectedNames.isEmpty()
                                                || selectedNames.contains(each.name()))
                        .toList();
        this.labels =
                IntStream.range(0, categories.size())
                        .boxed()
                        .collect(toImmutableMap(label -> categoryId(label), label -> label));
        this.annotations = Multimaps.index(table.annotations(), Row::imageId);
        this.labelMaps = labelMaps;
    }

    /**
     * Opens an annotation file.
     *
     * @param images folder that {@code file_name} is relative to; files outside are invalid
     * @param classes the selected classes; all if empty
     * @throws SaccadeException if the file is invalid; lists the first faults with their positions
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
                    "labels follow the order of the categories in the file, not in the config"
                            + " file={} classes={}",
                    annotations,
                    dataset.classes());
        }
        return dataset;
    }

    /**
     * Reads an annotation file without its images; returns empty if the content is inconsistent.
     *
     * @throws SaccadeException if the file is missing or not JSON; names line and column
     */
    public static Optional<CocoDataset> read(Path annotations, Consumer<Finding> findings) {
        Findings found = new Findings();
        AnnotationTable table = CocoReader.read(annotations, found);
        String file = annotations.toString();
        new CocoReferences(table, file, Path.of("")).checkContent(List.of(), found);
        boolean isConsistent = !found.hasErrors();
        if (isConsistent) {
            new ObjectCheck(table, file, table.categories(List.of()), Set.of()).check(found);
        }
        found.kept().forEach(findings);
        return isConsistent
                ? Optional.of(new CocoDataset(table, List.of(), List.of(), Optional.empty()))
                : Optional.empty();
    }

    public List<String> fileNames() {
        return Lists.transform(rows, ImageRow::fileName);
    }

    public long imageId(int index) {
        return rows.get(index).id();
    }

    public Size imageSize(int index) {
        return rows.get(index).size();
    }

    /** Returns the name of the original if Roboflow augmented this image; empty if unknown. */
    public String source(int index) {
        return rows.get(index).source();
    }

    @Override
    public int size() {
        return rows.size();
    }

    @Override
    public List<String> classes() {
        return Lists.transform(categories, Category::name);
    }

    @Override
    public long categoryId(int label) {
        return categories.get(label).id();
    }

    @Override
    public List<ImageFile> images() {
        return Lists.transform(ContiguousSet.closedOpen(0, files.size()).asList(), this::read);
    }

    private ImageFile read(int index) {
        return new ImageFile(imageId(index), files.get(index), imageSize(index));
    }

    @Override
    public int semanticClasses() {
        return labelMaps.map(LabelMaps::classes).orElse(0);
    }

    @Override
    public LabelMap labels(int index) {
        return labelMaps.isPresent()
                ? labelMaps.get().read(image(index), rows.get(index).fileName())
                : Dataset.super.labels(index);
    }

    @Override
    public List<Annotation> annotations(int index) {
        return annotations.get(imageId(index)).stream()
                .map(row -> row.annotation(labels.getOrDefault(row.categoryId(), NOT_SELECTED)))
                .toList();
    }
}

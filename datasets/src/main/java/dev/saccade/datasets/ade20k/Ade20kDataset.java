package dev.saccade.datasets.ade20k;

import static com.google.common.base.Preconditions.checkArgument;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.labels.LabelEncoding;
import dev.saccade.datasets.labels.LabelFile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Photographs with a class for every pixel, in the layout of ADE20K: a folder of photographs and
 * one of PNGs of the same names, whose numbers are classes.
 *
 * <p>Photographs are sorted by name and have ids from 1 in this order. Their sizes are read when
 * they are asked for first.
 */
public final class Ade20kDataset implements Dataset {

    /** Of a file of names of classes. */
    private static final int MAX_BYTES = 1 << 24;

    private static final String HINT = "if classes count from 1, set reduce_zero_label";

    private final ImmutableList<String> classes;
    private final LabelEncoding code;
    private final ImmutableList<LabelFile> pairs;
    private final AtomicReferenceArray<Size> sizes;

    private Ade20kDataset(List<String> classes, LabelEncoding code, List<LabelFile> pairs) {
        this.classes = ImmutableList.copyOf(classes);
        this.code = code;
        this.pairs = ImmutableList.copyOf(pairs);
        this.sizes = new AtomicReferenceArray<>(pairs.size());
    }

    /**
     * Where a data set in the layout of ADE20K lies.
     *
     * @param images the folder of the photographs, relative to the root of the data
     * @param annotations the folder of the label maps, relative to the root
     * @param classes the names of the classes; those of {@code classes_file}, or without one the
     *     150 of ADE20K, if empty
     * @param classesFile a text file with a name a line, relative to the root
     * @param reduceZeroLabel whether 0 in the label maps means that a pixel has no class, and
     *     classes count from 1
     * @param ignoreIndex the number of pixels that are neither learned nor measured
     * @param imageSuffix what the names of photographs end in
     * @param labelSuffix what the names of label maps end in; what stands before is the same
     */
    @Part("ade20k")
    public record Config(
            @Default("images/training") String images,
            @Default("annotations/training") String annotations,
            @Default("[]") List<String> classes,
            Optional<String> classesFile,
            @Default("true") boolean reduceZeroLabel,
            @Default("255") int ignoreIndex,
            @Default(".jpg") String imageSuffix,
            @Default(".png") String labelSuffix)
            implements Dataset.Config {

        /** Checks what can be checked without files. */
        public Config {
            classes = List.copyOf(classes);
            new Checks().inRange("ignore_index", ignoreIndex, 0, 0xFFFF).throwIfAny();
            checkArgument(
                    classes.isEmpty() || classesFile.isEmpty(),
                    "classes_file: names the classes, and so does classes; give one of them");
        }

        @Override
        public Ade20kDataset open(Path root) {
            DataFolder.requireRoot(root, images, annotations);
            List<String> names = names(root);
            LabelEncoding code = code(names);
            Findings findings = new Findings();
            List<LabelFile> pairs = pairs(root, findings);
            findings.problems().throwIfAny(root.resolve(images).toString());
            return new Ade20kDataset(names, code, pairs);
        }

        @Override
        public List<String> knownClasses() {
            return classes.isEmpty() && classesFile.isEmpty() ? Ade20kClasses.NAMES : classes;
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            DataFolder.requireRoot(root, images, annotations);
            return Ade20kCheck.run(this, root, options);
        }

        List<LabelFile> pairs(Path root, Findings findings) {
            return new PairedFiles(
                            root,
                            new PairedFiles.FileSet(
                                    "images", root.resolve(images), "image_suffix", imageSuffix),
                            new PairedFiles.FileSet(
                                    "annotations",
                                    root.resolve(annotations),
                                    "label_suffix",
                                    labelSuffix))
                    .find(findings);
        }

        /**
         * Returns the names of the classes.
         *
         * @throws SaccadeException if there are none, or one comes twice, or the file of names
         *     cannot be read
         */
        List<String> names(Path root) {
            List<String> names = classesFile.map(file -> lines(root.resolve(file))).orElse(classes);
            if (names.isEmpty() && classesFile.isEmpty()) {
                return Ade20kClasses.NAMES;
            }
            Problems problems = new Problems();
            if (names.isEmpty()) {
                problems.add("a name of a class in every line expected, got none");
            }
            Set<String> seen = new HashSet<>();
            names.stream()
                    .filter(name -> !seen.add(name))
                    .forEach(name -> problems.add("class \"%s\" comes twice", name));
            problems.throwIfAny(classesFile.map(file -> "" + root.resolve(file)).orElse("classes"));
            return names;
        }

        private static List<String> lines(Path file) {
            try {
                ByteBuffer content = ByteBuffer.wrap(RegularFile.read(file, MAX_BYTES));
                String text = UTF_8.newDecoder().decode(content).toString();
                return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
            } catch (NoSuchFileException e) {
                throw SaccadeException.user(
                        "%s: no such file; expected the name of a class in every line", file);
            } catch (IOException e) {
                throw SaccadeException.user(
                        "%s: the names of classes cannot be read: %s", file, e.getMessage());
            }
        }

        /** Returns what the numbers in the label maps mean. */
        LabelEncoding code(List<String> names) {
            try {
                return new LabelEncoding(names.size(), reduceZeroLabel, ignoreIndex, HINT);
            } catch (IllegalArgumentException e) {
                throw SaccadeException.user("%s: %s", annotations, e.getMessage());
            }
        }
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public List<ImageFile> images() {
        return Lists.transform(ContiguousSet.closedOpen(0, pairs.size()).asList(), this::read);
    }

    private ImageFile read(int index) {
        Path file = pairs.get(index).image();
        Size size = sizes.get(index);
        if (size == null) {
            size = ImageHeader.read(file).size();
            sizes.set(index, size);
        }
        return new ImageFile(index + 1L, file, size);
    }

    @Override
    public LabelMap labels(int index) {
        return pairs.get(index).read(code, image(index).size());
    }
}

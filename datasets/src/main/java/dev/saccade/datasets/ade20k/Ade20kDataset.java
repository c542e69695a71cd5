package dev.saccade.datasets.ade20k;

import static com.google.common.base.Preconditions.checkArgument;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.LazyImages;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;
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

/**
 * Images with label maps in the layout of ADE20K: a folder of images and a folder of PNGs with the
 * same names, whose pixel values are class indices.
 *
 * <p>Images are sorted by name and have ids from 1. Their sizes are read on first access.
 */
public final class Ade20kDataset implements Dataset {

    private static final int MAX_BYTES = 1 << 24;

    private static final String HINT = "if class indices start at 1, set reduce_zero_label: true";

    private final ImmutableList<String> classes;
    private final LabelEncoding code;
    private final ImmutableList<LabelFile> pairs;
    private final LazyImages images;

    private Ade20kDataset(List<String> classes, LabelEncoding code, List<LabelFile> pairs) {
        this.classes = ImmutableList.copyOf(classes);
        this.code = code;
        this.pairs = ImmutableList.copyOf(pairs);
        this.images = new LazyImages(Lists.transform(pairs, LabelFile::image));
    }

    /**
     * Settings of a data set in the layout of ADE20K. Paths are relative to the root of the data.
     *
     * @param images folder of the images
     * @param annotations folder of the label maps
     * @param classes class names; if empty, the names in {@code classes_file}, or else ADE20K's 150
     * @param classesFile text file with one class name per line
     * @param reduceZeroLabel whether 0 in label maps means no class, and class indices start at 1
     * @param ignoreIndex value of pixels that are neither trained on nor evaluated
     * @param imageSuffix suffix of image files
     * @param labelSuffix suffix of label maps; the rest of the name equals the image's
     */
    @Component("ade20k")
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

        public Config {
            classes = List.copyOf(classes);
            new Checks().inRange("ignore_index", ignoreIndex, 0, 0xFFFF).throwIfAny();
            checkArgument(
                    classes.isEmpty() || classesFile.isEmpty(),
                    "classes_file: cannot be combined with classes; set only one of them");
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

        /** Returns the class names; throws if the file has none, or a name occurs twice. */
        List<String> names(Path root) {
            List<String> names = classesFile.map(file -> lines(root.resolve(file))).orElse(classes);
            if (names.isEmpty() && classesFile.isEmpty()) {
                return Ade20kClasses.NAMES;
            }
            Problems problems = new Problems();
            if (names.isEmpty()) {
                problems.add("got no class names; expected one per line");
            }
            Set<String> seen = new HashSet<>();
            names.stream()
                    .filter(name -> !seen.add(name))
                    .forEach(name -> problems.add("class \"%s\" occurs twice", name));
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
                        "%s: no such file; expected a file with one class name per line", file);
            } catch (IOException e) {
                throw SaccadeException.user(
                        "%s: class names cannot be read: %s", file, e.getMessage());
            }
        }

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
        return images;
    }

    @Override
    public LabelMap labels(int index) {
        return pairs.get(index).read(code, image(index).size());
    }
}

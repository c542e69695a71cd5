package dev.saccade.datasets.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.LazyImages;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.image.TarArchive;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Images and classes in tar archives (shards), in the format of WebDataset: {@code KEY.jpg} with
 * {@code KEY.cls} (a class name or class index) or {@code KEY.json} (its {@code label}).
 *
 * <p>Archives are not unpacked: their names and positions are read when opening. Images have ids
 * from 1 in the order of the shards, and paths such as {@code shard.tar/KEY.jpg}.
 */
public final class WebDataset implements Dataset {

    /** An image in an archive, and its class; keeps the positions of the archive in memory. */
    record Entry(TarArchive archive, Path shard, String name, int label) {

        Path file() {
            return shard.resolve(name);
        }
    }

    private final ImmutableList<String> classes;
    private final ImmutableList<Entry> entries;
    private final ImmutableIntArray shardStarts;
    private final int shuffleBuffer;
    private final LazyImages images;

    private WebDataset(List<String> classes, List<List<Entry>> shards, int shuffleBuffer) {
        this.classes = ImmutableList.copyOf(classes);
        this.entries =
                shards.stream().flatMap(List::stream).collect(ImmutableList.toImmutableList());
        ImmutableIntArray.Builder starts = ImmutableIntArray.builder();
        int start = 0;
        for (List<Entry> shard : shards) {
            starts.add(start);
            start += shard.size();
        }
        this.shardStarts = starts.add(start).build();
        this.shuffleBuffer = shuffleBuffer;
        this.images = new LazyImages(Lists.transform(entries, Entry::file));
    }

    /**
     * Settings of a data set in shards.
     *
     * @param shards paths of tar archives, relative to the root of the data; may contain ranges
     *     such as {@code {000..146}}. File names may also contain {@code *}, {@code ?} and {@code
     *     {a,b}}
     * @param classes class names in the order of the labels
     * @param classesFile text file with a class name per line, instead of {@code classes}. If
     *     neither is set, labels must be names, and classes are in alphabetical order
     * @param shuffleBuffer number of images among which the next image of an epoch is sampled, as
     *     in WebDataset; shards are shuffled first
     */
    @Component("web_dataset")
    public record Config(
            @Default("[\"train-*.tar\"]") List<String> shards,
            @Default("[]") List<String> classes,
            Optional<String> classesFile,
            @Default("10000") int shuffleBuffer)
            implements Dataset.Config {

        private static final int MAX_SHOWN = 3;

        public Config {
            shards = List.copyOf(shards);
            classes = List.copyOf(classes);
            new Checks()
                    .size("shards", shards, 1, 100_000)
                    .inRange("shuffle_buffer", shuffleBuffer, 1, 10_000_000)
                    .throwIfAny();
            List<String> invalid =
                    shards.stream().filter(path -> !ShardPaths.isValid(path)).toList();
            Checks.require(
                    invalid.isEmpty(),
                    "shards",
                    Count.first(invalid, MAX_SHOWN),
                    "paths of .tar files such as train-{000..146}.tar; ranges ascend and have at"
                            + " most %d files",
                    ShardPaths.MAX_SHARDS);
            long files = shards.stream().mapToLong(ShardPaths::count).sum();
            Checks.require(
                    files <= ShardPaths.MAX_SHARDS,
                    "shards",
                    files + " files",
                    "at most %d",
                    ShardPaths.MAX_SHARDS);
            Checks.require(
                    classes.stream().distinct().count() == classes.size(),
                    "classes",
                    classes,
                    "distinct names");
            Checks.require(
                    classes.isEmpty() || classesFile.isEmpty(),
                    "classes_file",
                    classesFile.orElse(""),
                    "no value, since classes are listed");
        }

        @Override
        public WebDataset open(Path root) {
            Findings findings = new Findings();
            WebDataset dataset = read(root, findings);
            findings.problems().throwIfAny(root.resolve(shards.get(0)).toString());
            return dataset;
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            Findings findings = new Findings();
            WebDataset dataset = read(root, findings);
            return findings.hasErrors()
                    ? findings.report(new ImageLabelStatistics(Map.of()))
                    : DatasetCheck.run(dataset, options).withWarnings(findings.kept());
        }

        @Override
        public List<String> knownClasses() {
            return classes;
        }

        private WebDataset read(Path root, Findings findings) {
            DataFolder.requireRoot(root, ShardPaths.folders(shards));
            List<String> names = new ArrayList<>(classes);
            classesFile.ifPresent(
                    file -> names.addAll(ShardReader.classes(root.resolve(file), findings)));
            ShardReader reader = new ShardReader(names, findings);
            List<List<Entry>> read =
                    findings.hasErrors()
                            ? List.of()
                            : reader.read(ShardPaths.of(root, shards, findings));
            return new WebDataset(reader.classes(), read, shuffleBuffer);
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
    public int size() {
        return entries.size();
    }

    @Override
    public OptionalInt label(int index) {
        return OptionalInt.of(entries.get(index).label());
    }

    /** {@inheritDoc} Shuffles the shards, then the images within a moving buffer. */
    @Override
    public ImmutableIntArray shuffled(SplittableRandom random) {
        List<Integer> shards =
                new ArrayList<>(IntStream.range(0, shardStarts.length() - 1).boxed().toList());
        SeededRandom.shuffle(shards, random);
        ImmutableIntArray.Builder order = ImmutableIntArray.builder(size());
        int[] buffer = new int[Math.min(shuffleBuffer, size())];
        int filled = 0;
        for (int shard : shards) {
            for (int i = shardStarts.get(shard); i < shardStarts.get(shard + 1); i++) {
                if (filled < buffer.length) {
                    buffer[filled++] = i;
                } else {
                    int next = random.nextInt(filled);
                    order.add(buffer[next]);
                    buffer[next] = i;
                }
            }
        }
        for (; filled > 0; filled--) {
            int next = random.nextInt(filled);
            order.add(buffer[next]);
            buffer[next] = buffer[filled - 1];
        }
        return order.build();
    }
}

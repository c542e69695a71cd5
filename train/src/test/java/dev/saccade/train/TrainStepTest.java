package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.Sgd;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

class TrainStepTest {

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder);
    }

    private Batch batch(int from, int to) {
        SampleReader reader =
                new SampleReader(photos, List.of(Configs.of(Normalize.class)), TargetKind.BOXES);
        List<Sample> samples =
                IntStream.range(from, to).mapToObj(i -> reader.trainingSample(i, 0, 0)).toList();
        Batch batch = Batch.collate(samples);
        samples.forEach(Sample::close);
        return batch;
    }

    /** Returns the weights after a step over batches of the given sizes, and what it was like. */
    private float[] weightsAfter(int accumulation, int... sizes) {
        List<Batch> batches = new ArrayList<>();
        int first = 0;
        for (int size : sizes) {
            batches.add(batch(first, first + size));
            first += size;
        }
        TinyRun run = new TinyRun();
        // Statistics over a batch would differ between small and large ones.
        run.net.train(false);
        try (run.manager;
                Optimizer optimizer = Configs.of(Sgd.Config.class).build(run.net)) {
            TrainStep step =
                    new TrainStep(
                            run::squares,
                            optimizer,
                            Optional.empty(),
                            TinyRun.config(
                                    folder,
                                    "accumulation=" + accumulation,
                                    "max_gradient_norm=0.5"),
                            ProcessGroup.alone());
            Iterator<Batch> iterator = batches.iterator();
            assertEquals(first, step.run(iterator, RunState.START, 0, 0.1).images());
            assertFalse(iterator.hasNext());
            return run.net.namedParameters().get("stem.weight").getArray().toFloatArray();
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 2, 2, 2", "3, 2, 2, 2", "3, 2, 2, 1", "2, 4, 1, 0"})
    void accumulationEqualsALargeBatch(int accumulation, int first, int second, int third) {
        int[] sizes = IntStream.of(first, second, third).filter(size -> size > 0).toArray();
        assertArrayEquals(
                weightsAfter(1, IntStream.of(sizes).sum()),
                weightsAfter(accumulation, sizes),
                1e-6f);
    }

    @Test
    void usesNoMoreBatchesThanNeeded() {
        TinyRun run = new TinyRun();
        try (run.manager;
                Optimizer optimizer = Configs.of(Sgd.Config.class).build(run.net)) {
            TrainStep step =
                    new TrainStep(
                            run::squares,
                            optimizer,
                            Optional.empty(),
                            TinyRun.config(folder, "accumulation=2"),
                            ProcessGroup.alone());
            Iterator<Batch> iterator = List.of(batch(0, 2), batch(2, 4), batch(4, 6)).iterator();
            assertEquals(4, step.run(iterator, RunState.START, 0, 0.1).images());
            assertEquals(2, step.run(iterator, RunState.START, 0, 0.1).images());
        }
    }
}

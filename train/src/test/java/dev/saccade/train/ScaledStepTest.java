package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.google.common.collect.ImmutableMap;

import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Steps in float16 against PyTorch's GradScaler, clipping and AdamW on recorded gradients. */
class ScaledStepTest {

    /** Two parameters whose gradients are what they are multiplied by. */
    private static final class Weights extends Layer {

        private final Parameter a = parameter("a", new Shape(5), WeightInit.ZEROS);
        private final Parameter b = parameter("b", new Shape(2, 3), WeightInit.ZEROS);

        @Override
        protected NDArray forward(NDArray x) {
            return x;
        }

        Losses times(JsonNode step, NDManager scratch) {
            NDArray ga = Tensors.of(scratch, numbers(step.get("ga")), a.getShape());
            NDArray gb = Tensors.of(scratch, numbers(step.get("gb")), b.getShape());
            NDArray loss = a.getArray().mul(ga).sum().add(b.getArray().mul(gb).sum());
            return new Losses(ImmutableMap.of("loss_products", loss));
        }
    }

    @TempDir private Path folder;
    private final NDManager manager = Libtorch.newManager(Device.cpu());
    private final Weights weights = new Weights();
    private JsonNode recorded;

    @BeforeEach
    void read() throws IOException {
        try (InputStream in = ScaledStepTest.class.getResourceAsStream("grad_scaler.json")) {
            recorded = new ObjectMapper().readTree(in);
        }
        weights.initialize(manager, 0);
        weights.a.getArray().set(numbers(recorded.get("a")));
        weights.b.getArray().set(numbers(recorded.get("b")));
    }

    @AfterEach
    void free() {
        manager.close();
    }

    private static float[] numbers(JsonNode list) {
        float[] values = new float[list.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) list.get(i).asDouble();
        }
        return values;
    }

    private Iterator<Batch> batches(int number) {
        TinyRun.Photos photos = TinyRun.Photos.in(folder);
        SampleReader reader =
                new SampleReader(photos, List.of(Configs.of(Normalize.class)), TargetKind.BOXES);
        return IntStream.range(0, number)
                .mapToObj(
                        i -> {
                            try (Sample sample =
                                    reader.trainingSample(i % TinyRun.Photos.COUNT, 0, 0)) {
                                return Batch.collate(List.of(sample));
                            }
                        })
                .iterator();
    }

    private TrainStep step(Optimizer optimizer, Iterator<JsonNode> steps, String... settings) {
        return new TrainStep(
                (batch, scratch) -> weights.times(steps.next(), scratch),
                optimizer,
                Optional.empty(),
                TinyRun.config(folder, settings),
                ProcessGroup.alone());
    }

    @Test
    void stepsEqualPytorchsGradScaler() {
        try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(weights)) {
            TrainStep step =
                    step(
                            optimizer,
                            recorded.get("steps").iterator(),
                            "precision=float16",
                            "max_gradient_norm=1");
            RunState state = RunState.START;
            Iterator<Batch> batches = batches(recorded.get("steps").size());
            double scale = state.scaler().scale();
            for (JsonNode expected : recorded.get("steps")) {
                TrainStep.Result taken = step.run(batches, state, 0, 0.01);
                state = state.afterStep(taken.scaler());
                assertEquals(expected.get("scale").asDouble(), taken.scaler().scale());
                assertEquals(scale, taken.metrics().get("loss_scale"));
                scale = taken.scaler().scale();
                JsonNode norm = expected.get("norm");
                if (norm.isNull()) {
                    assertEquals(Double.POSITIVE_INFINITY, taken.gradientNorm());
                } else {
                    assertEquals(norm.asDouble(), taken.gradientNorm(), 1e-5);
                }
                assertArrayEquals(
                        numbers(expected.get("a")), weights.a.getArray().toFloatArray(), 1e-6f);
                assertArrayEquals(
                        numbers(expected.get("b")), weights.b.getArray().toFloatArray(), 1e-6f);
            }
        }
    }

    @Test
    void stopsIfUnscaledGradientsOverflow() {
        JsonNode overflow = recorded.get("steps").get(0).deepCopy();
        ((ArrayNode) overflow.get("ga")).set(0, 1e39);
        try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(weights)) {
            TrainStep step =
                    step(
                            optimizer,
                            IntStream.range(0, 20).mapToObj(i -> overflow).iterator(),
                            "precision=float16");
            Iterator<Batch> batches = batches(20);
            SaccadeException refused =
                    assertThrows(
                            SaccadeException.class,
                            () -> {
                                RunState state = RunState.START;
                                for (int i = 0; i < 20; i++) {
                                    TrainStep.Result taken = step.run(batches, state, 0, 0.01);
                                    state = state.afterStep(taken.scaler());
                                }
                            });
            assertTrue(
                    refused.getMessage().startsWith("step 17: the loss is not finite"),
                    refused.getMessage());
            assertTrue(refused.getMessage().contains("bfloat16"), refused.getMessage());
        }
    }

    @Test
    void synchronizesTheDeviceOncePerStep() {
        for (int accumulation : new int[] {1, 3}) {
            try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(weights)) {
                TrainStep step =
                        step(
                                optimizer,
                                IntStream.range(2, 5)
                                        .mapToObj(recorded.get("steps")::get)
                                        .iterator(),
                                "accumulation=" + accumulation,
                                "max_gradient_norm=1");
                Iterator<Batch> batches = batches(accumulation);
                HostTransfers transfers =
                        HostTransfers.count(() -> step.run(batches, RunState.START, 0, 0.01));
                assertEquals(List.of(1), List.copyOf(transfers.reads().values()));
            }
        }
    }
}

package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A recorded forward pass, whose graph is cut at checkpointed blocks; see {@link Autograd#record}.
 *
 * <p>The output of a checkpointed block is a leaf of the graph. The backward pass starts at the
 * loss and then processes the blocks from last to first, so that the gradient of a block's output
 * is complete when the block is recomputed.
 */
public final class Tape implements AutoCloseable {

    /** Creates a second handle of an array, with the same graph and gradient. */
    private static final Script SHARE = Script.compile("(x: Tensor) -> Tensor", "return x");

    private static final ThreadLocal<Tape> CURRENT = new ThreadLocal<>();

    /**
     * A checkpointed block.
     *
     * @param forward runs the block with the random numbers and precision of its first run
     * @param source gradient index of the input if it is the output of another block, else -1
     * @param leaf output of the block
     */
    private record Segment(
            Layer block,
            UnaryOperator<NDArray> forward,
            NDArray input,
            boolean differentiable,
            int source,
            NDArray leaf) {

        /** Returns whether the input has a libtorch graph. */
        boolean hasGraph() {
            return differentiable && source < 0;
        }

        /** Returns the gradients of the parameters and, if differentiable, of the input. */
        NDList backward(NDArray gradient, List<NDArray> parameters) {
            return Scope.list(
                    () -> {
                        NDArray x = input.stopGradient();
                        List<NDArray> by = new ArrayList<>(parameters);
                        if (differentiable) {
                            x.setRequiresGradient(true);
                            by.add(x);
                        }
                        Supplier<NDArray> again = () -> forward.apply(x);
                        return by.isEmpty()
                                ? new NDList()
                                : Autograd.gradients(
                                        () -> ActivationCheckpointing.repeating(again),
                                        gradient,
                                        by);
                    });
        }
    }

    private final NDManager manager;
    private final List<NDArray> by;
    private final List<Segment> segments = new ArrayList<>();

    private Tape outer;
    private boolean wasRecording;
    private boolean recording;

    /** Index of each parameter and leaf in the list of gradients. */
    private final IdentityHashMap<NDArray, Integer> places = new IdentityHashMap<>();

    Tape(List<NDArray> by) {
        this.by = by;
        this.manager = by.get(0).getManager().newSubManager();
        by.forEach(array -> places.put(array, places.size()));
    }

    /** Returns the tape that is recording in this thread, or null. */
    static Tape current() {
        Tape current = CURRENT.get();
        return current != null && JniUtils.isGradMode() ? current : null;
    }

    Tape start() {
        outer = CURRENT.get();
        wasRecording = JniUtils.isGradMode();
        recording = true;
        CURRENT.set(this);
        JniUtils.setGradMode(true);
        return this;
    }

    private void stop() {
        if (recording) {
            recording = false;
            JniUtils.setGradMode(wasRecording);
            CURRENT.set(outer);
        }
    }

    /** Runs a block without recording and returns its output as a leaf. */
    NDArray cut(Layer block, NDArray x) {
        SampleRandom random = SampleRandom.current();
        Device device = x.getDevice();
        Precision precision = Autocast.precision(device);
        UnaryOperator<NDArray> forward =
                input ->
                        random.call(
                                () -> Autocast.call(precision, device, () -> block.apply(input)));
        NDArray leaf = NoGrad.call(() -> Scope.array(() -> forward.apply(x).stopGradient()));
        leaf.setRequiresGradient(true);
        int place = places.getOrDefault(x, -1);
        int source = place < by.size() ? -1 : place;
        places.put(leaf, places.size());
        boolean differentiable = source >= 0 || Autograd.requiresGradient(x);
        segments.add(new Segment(block, forward, retain(x), differentiable, source, retain(leaf)));
        return leaf;
    }

    /** Returns a handle that keeps an array alive even if the caller frees it. */
    private NDArray retain(NDArray array) {
        NDArray same = SHARE.run(array);
        NDScope.unregister(same);
        same.attach(manager);
        return same;
    }

    /**
     * Stops recording and returns the gradients of a loss. Frees the loss and its graph.
     *
     * @return a gradient for each array of {@link Autograd#record}, owned by the manager of the
     *     loss; empty if the loss does not depend on the array; gradients may share memory
     * @throws IllegalArgumentException if the loss is not a float32 or float64 scalar or requires
     *     no gradient
     */
    public NDList backward(NDArray loss) {
        stop();
        checkArgument(loss.size() == 1, "loss: got shape %s, expected a scalar", loss.getShape());
        checkArgument(
                loss.getDataType() == DataType.FLOAT32 || loss.getDataType() == DataType.FLOAT64,
                "loss: got %s, expected float32; convert it with Tensors.toFloat32",
                loss.getDataType());
        checkArgument(
                Autograd.requiresGradient(loss),
                "loss: does not depend on any trainable parameter");
        return backward(loss, loss.onesLike());
    }

    /** Returns the gradients of {@code y} weighted by {@code dy}; frees both arrays. */
    NDList backward(NDArray y, NDArray dy) {
        stop();
        NDManager owner = y.getManager();
        NDList gradients = Autocast.off(() -> gradients(y, dy));
        gradients.attach(owner);
        return gradients;
    }

    private NDList gradients(NDArray y, NDArray dy) {
        List<NDArray> targets = new ArrayList<>(by);
        segments.forEach(segment -> targets.add(segment.leaf));
        boolean retainGraph = segments.stream().anyMatch(Segment::hasGraph);
        NDList totals = Autograd.product(y, dy, targets, retainGraph);
        y.close();
        dy.close();
        while (totals.size() > by.size()) {
            Segment segment = segments.remove(segments.size() - 1);
            segment.leaf.close();
            try (NDArray gradient = totals.remove(totals.size() - 1)) {
                if (!gradient.isEmpty()) {
                    List<NDArray> before = targets.subList(0, totals.size());
                    accumulate(segment, gradient, before, totals);
                }
            }
            segment.input.close();
        }
        return totals;
    }

    private void accumulate(
            Segment segment, NDArray gradient, List<NDArray> before, NDList totals) {
        List<Integer> own =
                segment.block.namedParameters().values().stream()
                        .map(parameter -> places.get(parameter.getArray()))
                        .filter(Objects::nonNull)
                        .distinct()
                        .toList();
        NDList found = segment.backward(gradient, own.stream().map(before::get).toList());
        for (int i = 0; i < own.size(); i++) {
            add(found.get(i), totals, own.get(i));
        }
        if (found.size() == own.size()) {
            return;
        }
        NDArray byInput = found.get(own.size());
        if (segment.source >= 0) {
            add(byInput, totals, segment.source);
        } else if (!byInput.isEmpty()) {
            NDList further = Autograd.product(segment.input, byInput, before, true);
            for (int i = 0; i < further.size(); i++) {
                add(further.get(i), totals, i);
            }
            byInput.close();
        }
    }

    private static void add(NDArray gradient, NDList totals, int place) {
        NDArray total = totals.get(place);
        if (gradient.isEmpty()) {
            gradient.close();
        } else if (total.isEmpty()) {
            total.close();
            totals.set(place, gradient);
        } else {
            try (total;
                    gradient) {
                totals.set(place, total.add(gradient));
            }
        }
    }

    @Override
    public void close() {
        stop();
        manager.close();
    }
}

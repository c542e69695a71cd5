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
 * A forward pass that is being recorded, cut where blocks are to be recomputed; see {@link
 * Autograd#record}.
 *
 * <p>The output of such a block is a leaf: libtorch's graphs lead from the loss, and from the input
 * of every block, to parameters and to leaves. Going backward joins what they give, block by block
 * from the last to the first, so that all gradients by the output of a block are there when it is
 * its turn.
 */
public final class Tape implements AutoCloseable {

    /** Another owner of the same array, which has one graph and one gradient. */
    private static final Script SHARE = Script.compile("(x: Tensor) -> Tensor", "return x");

    private static final ThreadLocal<Tape> CURRENT = new ThreadLocal<>();

    /**
     * A block that is to be recomputed.
     *
     * @param forward runs it as it ran: what it drew it draws again, computed in what it was
     * @param input what it was given
     * @param differentiable whether the input requires a gradient
     * @param source the place of the leaf that the input is; -1 if it is none
     * @param leaf what it returned
     */
    private record Segment(
            Layer block,
            UnaryOperator<NDArray> forward,
            NDArray input,
            boolean differentiable,
            int source,
            NDArray leaf) {

        /** Returns whether a graph of libtorch's leads to the input. */
        boolean hasGraph() {
            return differentiable && source < 0;
        }

        /** Returns the gradients by some parameters and, if it requires one, by the input. */
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

    /** Where the gradients by parameters and by leaves are among the totals. */
    private final IdentityHashMap<NDArray, Integer> places = new IdentityHashMap<>();

    /**
     * Makes an empty tape.
     *
     * @param by what to differentiate by, at least one
     */
    Tape(List<NDArray> by) {
        this.by = by;
        this.manager = by.get(0).getManager().newSubManager();
        by.forEach(array -> places.put(array, places.size()));
    }

    /** Returns the tape that this thread records on, or null. */
    static Tape current() {
        Tape current = CURRENT.get();
        return current != null && JniUtils.isGradMode() ? current : null;
    }

    /** Records what this thread computes from now on. */
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

    /** Runs a block without recording and cuts the graph after it. */
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
        segments.add(new Segment(block, forward, kept(x), differentiable, source, kept(leaf)));
        return leaf;
    }

    /** The caller frees its arrays when it likes. */
    private NDArray kept(NDArray array) {
        NDArray same = SHARE.run(array);
        NDScope.unregister(same);
        same.attach(manager);
        return same;
    }

    /**
     * Ends the recording and returns the gradients of a loss, which is freed with its graph; its
     * manager will own the gradients.
     *
     * @return a gradient for each array of {@link Autograd#record}, empty where the loss does not
     *     depend on it; two may share their memory
     * @throws IllegalArgumentException if the loss is no scalar, or depends on nothing that
     *     requires a gradient
     */
    public NDList backward(NDArray loss) {
        stop();
        checkArgument(loss.size() == 1, "loss: got shape %s, expected a scalar", loss.getShape());
        checkArgument(
                loss.getDataType() == DataType.FLOAT32 || loss.getDataType() == DataType.FLOAT64,
                "loss: got %s, expected float32; convert it with Tensors.toFloat32",
                loss.getDataType());
        checkArgument(Autograd.requiresGradient(loss), "loss: depends on no trainable parameter");
        return backward(loss, loss.onesLike());
    }

    /** Returns the gradients of a recorded array weighted by another; both are freed. */
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
        boolean many = segments.stream().anyMatch(Segment::hasGraph);
        NDList totals = Autograd.product(y, dy, targets, many);
        y.close();
        dy.close();
        while (totals.size() > by.size()) {
            Segment segment = segments.remove(segments.size() - 1);
            segment.leaf.close();
            try (NDArray gradient = totals.remove(totals.size() - 1)) {
                if (!gradient.isEmpty()) {
                    List<NDArray> before = targets.subList(0, totals.size());
                    pass(segment, gradient, before, totals);
                }
            }
            segment.input.close();
        }
        return totals;
    }

    /**
     * Adds what the gradient by the output of a segment contributes to the totals.
     *
     * @param before what the totals are by
     */
    private void pass(Segment segment, NDArray gradient, List<NDArray> before, NDList totals) {
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
            NDList onward = Autograd.product(segment.input, byInput, before, true);
            for (int i = 0; i < onward.size(); i++) {
                add(onward.get(i), totals, i);
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

package dev.saccade.models;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;

/** Weights that copies of a trained model share. They can be replaced while predictions run. */
final class SharedWeights<P> {

    /** A loaded checkpoint; its memory is freed once no prediction uses it. */
    record Loaded<P>(NDManager manager, Model<P> model, ScoreThresholds scores, ReadWriteLock use) {

        Loaded(NDManager manager, Model<P> model, ScoreThresholds scores) {
            this(manager, model, scores, new ReentrantReadWriteLock());
        }

        private void close() {
            use.writeLock().lock();
            try {
                manager.close();
            } finally {
                use.writeLock().unlock();
            }
        }
    }

    private final Device device;
    private volatile Loaded<P> current;
    private volatile boolean closed;

    SharedWeights(Loaded<P> loaded) {
        current = loaded;
        device = loaded.manager().getDevice();
    }

    Loaded<P> current() {
        return current;
    }

    Device device() {
        return device;
    }

    /**
     * Runs work on the current weights, which stay loaded meanwhile; {@code owner} is for messages.
     */
    <T> T use(String owner, Function<Loaded<P>, T> work) {
        while (true) {
            Loaded<P> loaded = current;
            loaded.use().readLock().lock();
            try {
                if (loaded.manager().isOpen()) {
                    return work.apply(loaded);
                }
            } finally {
                loaded.use().readLock().unlock();
            }
            checkState(!closed, "the %s is closed", owner);
        }
    }

    /**
     * Loads other weights and uses them from now on; waits for predictions with the previous ones.
     * One call loads at a time, so at most two weights need memory.
     */
    synchronized void replace(Supplier<Loaded<P>> load) {
        checkState(!closed, "the model is closed");
        Loaded<P> previous = current;
        current = load.get();
        previous.close();
    }

    boolean isOpen() {
        return !closed;
    }

    synchronized void close() {
        closed = true;
        current.close();
    }
}

package dev.saccade.spark;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.TrainedModel;

import org.apache.spark.SparkFiles;

import java.io.Serializable;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * A model that is loaded from a file on first use and closed when unreachable. Spark keeps one copy
 * of a broadcast per JVM, so all tasks of an executor share the model.
 */
final class SharedModel<M extends TrainedModel<?>> implements Serializable {

    private static final long serialVersionUID = 1L;

    private final Class<M> kind;
    private final String file;
    private transient M model;

    SharedModel(Class<M> kind, Path file) {
        this.kind = kind;
        this.file = file.toAbsolutePath().toString();
    }

    /** Calls a function with the model, which stays open during the call. */
    <T> T use(Function<M, T> function) {
        try {
            return function.apply(model());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private synchronized M model() {
        if (model == null) {
            M loaded = kind.cast(TrainedModel.load(fileHere()));
            Cleaner.create().register(this, loaded::close);
            model = loaded;
        }
        return model;
    }

    private Path fileHere() {
        Path path = Path.of(file);
        if (Files.exists(path)) {
            return path;
        }
        Path sent = Path.of(SparkFiles.get(path.getFileName().toString()));
        if (Files.exists(sent)) {
            return sent;
        }
        throw SaccadeException.user(
                "%s: no such file on this executor; put it where all executors can read it, or send"
                        + " it to them with spark.sparkContext().addFile(\"%s\")",
                file, file);
    }
}

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
 * A model that is sent as the name of its file, loaded with its first use, and closed once it is
 * unreachable. Spark keeps one copy of a broadcast in each JVM, so all tasks there share one model.
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

    /** Returns a result of the model, which stays open meanwhile. */
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

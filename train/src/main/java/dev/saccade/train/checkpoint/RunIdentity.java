package dev.saccade.train.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableMap;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;

/** Identifies runs by model, seed, classes and annotations, but not by pixels. */
public final class RunIdentity {

    private RunIdentity() {}

    /** Returns the identifying metadata of all checkpoints of a run. */
    public static Map<String, String> of(RunConfig config, Dataset train) {
        DataConfig data = config.data();
        ModelSpec spec =
                new ModelSpec(
                        config.model(),
                        data.valTransformsAtSize(),
                        data.tta(),
                        train.classes(),
                        config.precision(),
                        List.of(),
                        data.pixels());
        return ImmutableMap.<String, String>builder()
                .putAll(spec.toMetadata())
                .put("run.seed", Long.toString(config.seed()))
                .put("run.data", fingerprint(train))
                .buildOrThrow();
    }

    /** Returns a SHA-256 hash of classes; image ids, names and sizes; labels, boxes and crowds. */
    public static String fingerprint(Dataset dataset) {
        Hasher hasher = Hashing.sha256().newHasher();
        dataset.classes().forEach(name -> hasher.putString(name, UTF_8).putByte((byte) 0));
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile image = dataset.image(i);
            hasher.putLong(image.id())
                    .putString(image.file().getFileName().toString(), UTF_8)
                    .putInt(image.size().height())
                    .putInt(image.size().width());
            for (Annotation annotation : dataset.annotations(i)) {
                hasher.putInt(annotation.label())
                        .putDouble(annotation.box().x())
                        .putDouble(annotation.box().y())
                        .putDouble(annotation.box().width())
                        .putDouble(annotation.box().height())
                        .putBoolean(annotation.crowd());
            }
        }
        return hasher.hash().toString();
    }
}

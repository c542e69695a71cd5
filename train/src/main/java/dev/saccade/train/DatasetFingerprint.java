package dev.saccade.train;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

/** Tells whether a data set is the one that a run began with; pixels are not looked at. */
final class DatasetFingerprint {

    private DatasetFingerprint() {}

    /** Returns a hash of classes, photographs and annotations; the folder does not count. */
    static String compute(Dataset dataset) {
        Hasher hasher = Hashing.sha256().newHasher();
        dataset.classes().forEach(name -> hasher.putString(name, UTF_8).putByte((byte) 0));
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile photo = dataset.image(i);
            hasher.putLong(photo.id())
                    .putString(photo.file().getFileName().toString(), UTF_8)
                    .putInt(photo.size().height())
                    .putInt(photo.size().width());
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

package dev.saccade.djl;

import ai.djl.modality.Classifications;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.Doubles;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Size;

import java.util.List;

/** Converts class probabilities to {@link Classifications}; the array is {@code [K]} float64. */
final class ClassificationResponse implements ResponseFormat<ClassScores> {

    @Override
    public String model() {
        return "classifier";
    }

    @Override
    public Class<Classifications> type() {
        return Classifications.class;
    }

    @Override
    public NDList arrays(ClassScores scores, Size imageSize, NDManager manager) {
        return new NDList(manager.create(scores.values().toArray(), new Shape(scores.size())));
    }

    @Override
    public Classifications response(NDList arrays, List<String> classes) {
        return new Classifications(
                classes, Doubles.asList(arrays.singletonOrThrow().toDoubleArray()));
    }
}

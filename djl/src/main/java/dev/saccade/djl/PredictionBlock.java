package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Size;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.SegmentationModel;

import java.util.List;

/**
 * A trained model as a block of DJL: the views of one photograph as {@link ViewArrays} to what is
 * found in it as {@link AnswerArrays}.
 *
 * <p>Several threads may share it, as long as none trains it.
 */
final class PredictionBlock extends Module {

    private final ModelSpec spec;
    private final Model model;

    PredictionBlock(ModelSpec spec, Model model) {
        this.spec = spec;
        this.model = add("", model);
        train(false);
    }

    /** Returns what the model is made of and fed with. */
    ModelSpec spec() {
        return spec;
    }

    @Override
    public NDList call(NDList inputs) {
        return OutOfMemory.IN_PREDICTION.told(() -> predict(inputs));
    }

    private NDList predict(NDList inputs) {
        NDManager manager = inputs.head().getManager();
        List<ImageBatch> views = ViewArrays.views(inputs);
        if (model instanceof DetectionModel detector) {
            Size original = views.get(0).images().get(0).original();
            return AnswerArrays.of(detector.predictViews(views), original, manager);
        }
        return AnswerArrays.of(((SegmentationModel) model).predictViews(views), manager);
    }
}

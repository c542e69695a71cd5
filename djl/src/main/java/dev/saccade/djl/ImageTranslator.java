package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.ViewReader;

import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Decodes photographs, one by one, for a {@link PredictionBlock}, and reads its format. */
final class ImageTranslator<I, O> implements Translator<I, O> {

    private static final String REFUSAL = "refusal";

    private final ViewReader reader;
    private final Function<I, ImageSource> photo;
    private final Function<NDList, O> answer;
    private final Function<SaccadeException, O> refusal;

    /**
     * Makes a translator.
     *
     * @param views transforms of each view
     * @param photo inputs to photographs
     * @param answer arrays of the block to outputs
     * @param refusal what is answered for a photograph that cannot be used
     */
    ImageTranslator(
            List<List<Transform>> views,
            Function<I, ImageSource> photo,
            Function<NDList, O> answer,
            Function<SaccadeException, O> refusal) {
        this.reader = new ViewReader(views);
        this.photo = photo;
        this.answer = answer;
        this.refusal = refusal;
    }

    /** Returns that photographs are not stacked: their sizes differ. */
    @Override
    public Batchifier getBatchifier() {
        return null;
    }

    /** Returns the arrays of a photograph; none, for which DJL runs no block, if it is refused. */
    @Override
    public NDList processInput(TranslatorContext context, I input) {
        NDManager manager = context.getNDManager();
        try {
            return OutOfMemory.PREDICTION.call(() -> views(photo.apply(input), manager));
        } catch (SaccadeException e) {
            context.setAttachment(REFUSAL, e);
            return new NDList();
        }
    }

    private NDList views(ImageSource source, NDManager manager) {
        ImageViews views = reader.read(List.of(source));
        manager.attachInternal(UUID.randomUUID().toString(), views);
        return ViewArrays.of(views.on(manager), manager);
    }

    @Override
    public O processOutput(TranslatorContext context, NDList arrays) {
        return arrays.isEmpty()
                ? refusal.apply((SaccadeException) context.getAttachment(REFUSAL))
                : answer.apply(arrays);
    }
}

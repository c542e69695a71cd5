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
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;

import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Decodes single images for a {@link PredictionBlock} and converts its results. */
final class ImageTranslator<I, O> implements Translator<I, O> {

    private static final String ERROR = "error";

    private final InferenceReader reader;
    private final Function<I, ImageSource> toImage;
    private final Function<NDList, O> toOutput;
    private final Function<SaccadeException, O> onError;

    /** Creates a translator. {@code onError} creates the output for an unreadable image. */
    ImageTranslator(
            List<List<Transform>> pipelines,
            PixelFormat pixels,
            Function<I, ImageSource> toImage,
            Function<NDList, O> toOutput,
            Function<SaccadeException, O> onError) {
        this.reader = new InferenceReader(pipelines, pixels);
        this.toImage = toImage;
        this.toOutput = toOutput;
        this.onError = onError;
    }

    @Override
    public Batchifier getBatchifier() {
        return null;
    }

    /** Returns the arrays of an image; none if it is unreadable, so that DJL skips the block. */
    @Override
    public NDList processInput(TranslatorContext context, I input) {
        NDManager manager = context.getNDManager();
        try {
            return OutOfMemory.PREDICTION.call(() -> arrays(toImage.apply(input), manager));
        } catch (SaccadeException e) {
            context.setAttachment(ERROR, e);
            return new NDList();
        }
    }

    private NDList arrays(ImageSource source, NDManager manager) {
        InferenceInput decoded = reader.read(List.of(source));
        manager.attachInternal(UUID.randomUUID().toString(), decoded);
        return InputArrays.of(decoded.to(manager), manager);
    }

    @Override
    public O processOutput(TranslatorContext context, NDList arrays) {
        return arrays.isEmpty()
                ? onError.apply((SaccadeException) context.getAttachment(ERROR))
                : toOutput.apply(arrays);
    }
}

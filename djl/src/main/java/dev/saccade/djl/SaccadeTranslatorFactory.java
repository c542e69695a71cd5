package dev.saccade.djl;

import ai.djl.Model;
import ai.djl.modality.Classifications;
import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.output.CategoryMask;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ModelSpec;

import java.io.InputStream;
import java.lang.reflect.Type;
import java.net.URL;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Creates translators for the blocks of {@link SaccadeBlockFactory}.
 *
 * <p>Inputs are an {@link Image}, whose pixels are used directly, or the encoded image in a {@link
 * Path}, {@link URL}, {@link InputStream} or {@code byte[]}. A detector returns {@link
 * DetectedObjects} in descending order of scores, a segmenter a {@link CategoryMask}, a classifier
 * {@link Classifications}. Services use {@link Input} and {@link Output}: the request contains an
 * image file, the response is DJL's JSON of the same objects.
 *
 * <p>The argument {@code tta} selects a test-time augmentation from {@code data.tta} in the config;
 * by default there is none.
 *
 * <p>Translators are stateless and thread-safe.
 */
public final class SaccadeTranslatorFactory implements TranslatorFactory {

    private static final Map<Class<?>, Function<Object, ImageSource>> IMAGE_SOURCES =
            Map.of(
                    Image.class, image -> DjlTypes.image((Image) image),
                    Path.class, file -> ImageSource.of((Path) file),
                    URL.class, url -> DjlTypes.image((URL) url),
                    InputStream.class, stream -> DjlTypes.image((InputStream) stream),
                    byte[].class, bytes -> ImageSource.of((byte[]) bytes));

    @Override
    public Set<Pair<Type, Type>> getSupportedTypes() {
        Set<Pair<Type, Type>> types = new HashSet<>();
        for (Class<?> imageType : IMAGE_SOURCES.keySet()) {
            types.add(new Pair<>(imageType, DetectedObjects.class));
            types.add(new Pair<>(imageType, CategoryMask.class));
            types.add(new Pair<>(imageType, Classifications.class));
        }
        types.add(new Pair<>(Input.class, Output.class));
        return types;
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user, if the model is not a Saccade model or has another
     *     output type, or an argument is invalid
     */
    @Override
    public <I, O> Translator<I, O> newInstance(
            Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
        if (!(model.getBlock() instanceof PredictionBlock<?> block)) {
            throw SaccadeException.user(
                    "%s: not a Saccade model; set the argument blockFactory=%s",
                    model.getName(), SaccadeBlockFactory.class.getName());
        }
        if (arguments.containsKey("views")) {
            throw SaccadeException.user(
                    "%s: the argument views is unknown; use tta", model.getName());
        }
        ModelSpec spec = block.spec();
        ResponseFormat<?> format = block.format();
        List<List<Transform>> pipelines = pipelines(spec, arguments.get("tta"));
        if (input == Input.class) {
            return new ImageTranslator<>(
                    pipelines,
                    spec.pixels(),
                    request -> DjlTypes.image((Input) request),
                    arrays -> output.cast(DjlTypes.output(format.response(arrays, spec.classes()))),
                    error -> output.cast(DjlTypes.errorOutput(error)));
        }
        if (output != format.type()) {
            model.close();
            throw SaccadeException.user(
                    "%s: a %s returns %s, not %s",
                    model.getName(),
                    format.model(),
                    format.type().getSimpleName(),
                    output.getSimpleName());
        }
        Function<Object, ImageSource> toImage = IMAGE_SOURCES.get(input);
        return new ImageTranslator<>(
                pipelines,
                spec.pixels(),
                toImage::apply,
                arrays -> output.cast(format.response(arrays, spec.classes())),
                error -> {
                    throw error;
                });
    }

    private static List<List<Transform>> pipelines(ModelSpec spec, Object name) {
        return Optional.ofNullable(name)
                .flatMap(given -> spec.tta().named(given.toString()))
                .map(augmentation -> augmentation.pipelines(spec.transforms()))
                .orElseGet(() -> List.of(spec.transforms()));
    }
}

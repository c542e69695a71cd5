package dev.saccade.spring;

import com.google.common.collect.ImmutableSet;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ModelMetrics;
import dev.saccade.models.TrainedModel;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.awt.image.BufferedImage;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The models of the properties {@code saccade.*}, by the names of their beans. */
public final class SaccadeModels implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SaccadeModels.class);

    private static final int WARM_UP_EDGE = 640;

    private final Map<String, ModelSettings> settings;
    private final Map<String, TrainedModel<?>> loaded = new LinkedHashMap<>();
    private final Map<String, String> failedReloads = new ConcurrentHashMap<>();

    /** Loads all models and predicts an image with each. */
    SaccadeModels(Map<String, ModelSettings> settings, Function<String, ModelMetrics> metrics) {
        this.settings = settings;
        try {
            settings.forEach((name, each) -> loaded.put(name, load(each, metrics.apply(name))));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private static TrainedModel<?> load(ModelSettings settings, ModelMetrics metrics) {
        TrainedModel<?> model = settings.load();
        try {
            warmUp(model);
            model.startQueue(settings.limits(), metrics);
            return model;
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }

    private static void warmUp(TrainedModel<?> model) {
        Object unused =
                model.predict(
                        ImageSource.of(
                                new BufferedImage(
                                        WARM_UP_EDGE, WARM_UP_EDGE, BufferedImage.TYPE_INT_RGB)));
    }

    public Set<String> names() {
        return ImmutableSet.copyOf(loaded.keySet());
    }

    /** Returns a model; throws a user error if there is none with this name. */
    public TrainedModel<?> get(String name) {
        TrainedModel<?> model = loaded.get(name);
        if (model == null) {
            throw SaccadeException.user(
                    "%s: no such model; expected one of %s",
                    name, String.join(", ", loaded.keySet()));
        }
        return model;
    }

    /**
     * Loads the checkpoint of a model again. The bean stays the same, and no request fails.
     *
     * @throws SaccadeException if the file cannot be used; the previous weights stay in use
     */
    public void reload(String name) {
        TrainedModel<?> model = get(name);
        try {
            model.reload(settings.get(name).file());
            failedReloads.remove(name);
            LOG.info("reloaded {} from {}", name, settings.get(name).file());
        } catch (RuntimeException e) {
            failedReloads.put(name, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Returns whether all models can predict. */
    boolean isReady() {
        return loaded.values().stream().allMatch(TrainedModel::isOpen);
    }

    /** Returns facts about each model, for the health and the endpoint. */
    Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        loaded.forEach((name, model) -> details.put(name, details(name, model)));
        return details;
    }

    private Map<String, Object> details(String name, TrainedModel<?> model) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("file", settings.get(name).file().toString());
        details.put("type", model.getClass().getSimpleName());
        details.put("device", Devices.name(model.device()));
        details.put("classes", model.classes().size());
        details.put("open", model.isOpen());
        String failure = failedReloads.get(name);
        if (failure != null) {
            details.put("failedReload", failure);
        }
        return details;
    }

    /** Finishes the images in progress, then closes the models. */
    @Override
    public void close() {
        loaded.values().forEach(TrainedModel::close);
    }
}

package dev.saccade.spring;

import org.springframework.boot.context.properties.ConfigurationProperties;

import java.util.LinkedHashMap;
import java.util.Map;

/** Properties of the model {@code saccade.model}, which are defaults of the named models. */
@ConfigurationProperties("saccade")
public class SaccadeProperties extends ModelProperties {

    /** Models by name, each with the properties model, device, precision, scores, .... */
    private Map<String, ModelProperties> models = new LinkedHashMap<>();

    public Map<String, ModelProperties> getModels() {
        return models;
    }

    public void setModels(Map<String, ModelProperties> models) {
        this.models = models;
    }
}

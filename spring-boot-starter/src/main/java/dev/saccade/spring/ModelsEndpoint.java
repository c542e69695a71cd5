package dev.saccade.spring;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

import java.util.Map;

/** Endpoint {@code saccade}: lists the models, and reloads one by its name. */
@Endpoint(id = "saccade")
final class ModelsEndpoint {

    private final SaccadeModels models;

    ModelsEndpoint(SaccadeModels models) {
        this.models = models;
    }

    @ReadOperation
    public Map<String, Object> list() {
        return models.details();
    }

    @WriteOperation
    public Map<String, Object> reload(@Selector String name) {
        models.reload(name);
        return models.details();
    }
}

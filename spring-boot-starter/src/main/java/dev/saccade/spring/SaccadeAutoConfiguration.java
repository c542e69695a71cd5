package dev.saccade.spring;

import dev.saccade.models.ModelMetrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Registers the models of {@link SaccadeProperties}, their metrics, health and endpoint. */
@AutoConfiguration
@EnableConfigurationProperties(SaccadeProperties.class)
@Import({Boot3Health.class, Boot4Health.class})
public class SaccadeAutoConfiguration {

    static final String MODELS = "saccadeModels";

    @Bean
    static ModelRegistrar saccadeModelRegistrar(Environment environment) {
        return new ModelRegistrar(environment);
    }

    @Bean(MODELS)
    SaccadeModels saccadeModels(
            ModelRegistrar registrar,
            ObjectProvider<MeterRegistry> meters,
            ObjectProvider<ObservationRegistry> observations) {
        MeterRegistry registry = meters.getIfAvailable(CompositeMeterRegistry::new);
        ObservationRegistry tracing = observations.getIfAvailable();
        return new SaccadeModels(
                registrar.settings(),
                name ->
                        tracing == null
                                ? ModelMetrics.of(name, registry)
                                : ModelMetrics.of(name, registry, tracing));
    }

    @Bean
    MeterFilter saccadeHistograms() {
        return ModelMetrics.histograms();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Endpoint.class)
    static class Actuator {

        @Bean
        ModelsEndpoint saccadeEndpoint(SaccadeModels models) {
            return new ModelsEndpoint(models);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RestControllerAdvice.class)
    @ConditionalOnWebApplication
    static class Web {

        @Bean
        @ConditionalOnMissingBean
        PredictionErrors saccadePredictionErrors() {
            return new PredictionErrors();
        }
    }
}

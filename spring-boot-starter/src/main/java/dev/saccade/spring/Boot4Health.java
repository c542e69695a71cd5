package dev.saccade.spring;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health in Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HealthIndicator.class)
class Boot4Health {

    @Bean
    HealthIndicator saccadeHealthIndicator(SaccadeModels models) {
        return () ->
                (models.isReady() ? Health.up() : Health.down())
                        .withDetails(models.details())
                        .build();
    }
}

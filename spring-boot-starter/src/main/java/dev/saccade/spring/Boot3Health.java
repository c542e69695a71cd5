package dev.saccade.spring;

import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health in Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HealthIndicator.class)
class Boot3Health {

    @Bean
    HealthIndicator saccadeHealthIndicator(SaccadeModels models) {
        return () ->
                (models.isReady() ? Health.up() : Health.down())
                        .withDetails(models.details())
                        .build();
    }
}

package dev.saccade.spring;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Problems;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

import java.util.Map;

/**
 * Checks the properties and registers a bean for each model, with the type of its checkpoint. Named
 * models have the name of their bean; the model {@code saccade.model} is primary.
 */
final class ModelRegistrar implements BeanDefinitionRegistryPostProcessor {

    private static final String PREFIX = "saccade";

    /** Bean name of {@code saccade.model}. */
    static final String PRIMARY = "saccadeModel";

    private final Binder binder;
    private Map<String, ModelSettings> settings = Map.of();

    ModelRegistrar(Environment environment) {
        binder = Binder.get(environment);
    }

    Map<String, ModelSettings> settings() {
        return settings;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        // Unknown properties are errors, except in the environment and system properties.
        BindHandler known =
                new NoUnboundElementsBindHandler(
                        BindHandler.DEFAULT, new UnboundElementsSourceFilter());
        SaccadeProperties properties =
                binder.bind(PREFIX, Bindable.of(SaccadeProperties.class), known)
                        .orElseGet(SaccadeProperties::new);
        Problems problems = new Problems();
        ImmutableMap.Builder<String, ModelSettings> checked = ImmutableMap.builder();
        if (properties.getModel() != null && !properties.getModel().isEmpty()) {
            ModelSettings.of(PREFIX, properties, problems)
                    .ifPresent(each -> checked.put(PRIMARY, each));
        }
        for (String name : properties.getModels().keySet()) {
            String prefix = PREFIX + ".models." + name;
            if (registry.containsBeanDefinition(name)) {
                problems.add("%s: another bean has this name; choose another name", prefix);
            }
            ModelSettings.of(prefix, named(prefix), problems)
                    .ifPresent(each -> checked.put(name, each));
        }
        problems.throwIfAny(PREFIX);
        settings = checked.buildOrThrow();
        settings.forEach((name, each) -> register(name, each, registry));
    }

    /** Returns properties of a named model with the defaults below {@code saccade}. */
    private ModelProperties named(String prefix) {
        ModelProperties properties =
                binder.bind(PREFIX, ModelProperties.class).orElseGet(ModelProperties::new);
        properties.setModel(null);
        return binder.bind(prefix, Bindable.ofInstance(properties)).orElse(properties);
    }

    private static void register(
            String name, ModelSettings settings, BeanDefinitionRegistry registry) {
        RootBeanDefinition bean = new RootBeanDefinition(settings.type());
        bean.setTargetType(settings.type());
        bean.setFactoryBeanName(SaccadeAutoConfiguration.MODELS);
        bean.setFactoryMethodName("get");
        bean.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
        bean.setPrimary(name.equals(PRIMARY));
        // SaccadeModels closes the models.
        bean.setDestroyMethodName("");
        registry.registerBeanDefinition(name, bean);
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {}
}

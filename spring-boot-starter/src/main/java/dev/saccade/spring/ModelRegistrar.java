package dev.saccade.spring;

import dev.saccade.core.Problems;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Checks the properties and registers a bean for each model, with the type of its checkpoint. Named
 * models have the name of their bean; the model {@code saccade.model} is primary.
 */
final class ModelRegistrar implements BeanDefinitionRegistryPostProcessor {

    private static final String PREFIX = "saccade";

    /** Bean name of {@code saccade.model}. */
    static final String PRIMARY = "saccadeModel";

    private final Binder binder;
    private final Map<String, ModelSettings> settings = new LinkedHashMap<>();

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
                binder.bind(PREFIX, Bindable.of(SaccadeProperties.class), inheriting(known))
                        .orElseGet(SaccadeProperties::new);
        Problems problems = new Problems();
        if (properties.getModel() != null) {
            check(PRIMARY, PREFIX, properties, registry, problems);
        }
        properties
                .getModels()
                .forEach(
                        (name, each) ->
                                check(name, PREFIX + ".models." + name, each, registry, problems));
        problems.throwIfAny(PREFIX);
        settings.forEach((name, each) -> register(name, each, registry));
    }

    /** Adds the settings of a model, unless its file is empty because a test replaces the bean. */
    private void check(
            String name,
            String prefix,
            ModelProperties properties,
            BeanDefinitionRegistry registry,
            Problems problems) {
        if ("".equals(properties.getModel())) {
            return;
        }
        boolean isTaken = registry.isBeanNameInUse(name) && !isModel(name, registry);
        if (isTaken || settings.containsKey(name)) {
            problems.add(
                    "%s.model: another bean is called %s; choose another name for the model or the"
                            + " bean",
                    prefix, name);
        }
        ModelSettings.of(prefix, properties, problems)
                .ifPresent(each -> settings.putIfAbsent(name, each));
    }

    /** Named models start with the values below {@code saccade}. */
    private BindHandler inheriting(BindHandler parent) {
        return new AbstractBindHandler(parent) {
            @Override
            public <T> Bindable<T> onStart(
                    ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
                Bindable<T> started = super.onStart(name, target, context);
                if (target.getType().resolve() != ModelProperties.class) {
                    return started;
                }
                @SuppressWarnings("unchecked") // checked above
                Supplier<T> start = () -> (T) defaults();
                return started.withSuppliedValue(start);
            }
        };
    }

    private ModelProperties defaults() {
        ModelProperties properties =
                binder.bind(PREFIX, ModelProperties.class).orElseGet(ModelProperties::new);
        properties.setModel(null);
        return properties;
    }

    /** Returns whether ahead-of-time processing has registered the model. */
    private static boolean isModel(String name, BeanDefinitionRegistry registry) {
        return registry.containsBeanDefinition(name)
                && SaccadeAutoConfiguration.MODELS.equals(
                        registry.getBeanDefinition(name).getFactoryBeanName());
    }

    private static void register(
            String name, ModelSettings settings, BeanDefinitionRegistry registry) {
        if (isModel(name, registry)) {
            registry.removeBeanDefinition(name);
        }
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

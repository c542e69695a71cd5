package dev.saccade.config;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Converts between configs and records of settings.
 *
 * <p>Keys are the names of record components in snake case. The default of a missing key comes from
 * the default of the enclosing record if no {@link Variant} is selected, else from the variant,
 * else from {@link Default}. Without any of them, an {@link Optional} is empty, a nested record has
 * its own defaults, and other keys are required. Components may be {@code int}, {@code long},
 * {@code float}, {@code double}, {@code boolean}, {@link String}, {@link java.nio.file.Path}, enums
 * (lower snake case), records (also {@link Unwrapped}), {@link Optional}, {@link List}, {@link Map}
 * with string keys, and interfaces that extend {@link ComponentConfig}; {@code type} selects their
 * record from all {@link ComponentProvider}s.
 */
public final class Configs {

    private static final Origin SETTINGS = new Origin(ConfigFile.SETTINGS, 0, 0);

    private Configs() {}

    /**
     * Creates a record from settings and defaults.
     *
     * @param settings such as {@code variant=tiny} or {@code depths=[2, 2, 6, 2]}, with YAML values
     * @throws SaccadeException of kind user that lists every problem
     */
    public static <T extends Record> T of(Class<T> type, String... settings) {
        ConfigNode.Mapping none = new ConfigNode.Mapping(Map.of(), Origin.DEFAULT);
        return bind(
                ConfigFile.withOverrides(
                        none, List.of(settings), SETTINGS.source(), config -> Optional.empty()),
                type);
    }

    /**
     * Creates a record from settings and defaults; values are records or the Java equivalents of
     * YAML values.
     *
     * @throws SaccadeException of kind user that lists every problem
     */
    public static <T extends Record> T of(Class<T> type, Map<String, ?> settings) {
        return bind(Unbinding.node(settings, SETTINGS), type);
    }

    /**
     * Returns a copy of a record with changed settings.
     *
     * @param settings as in {@link #of}; a different {@code type} or {@code variant} resets other
     *     settings to its defaults
     * @throws SaccadeException of kind user that lists every problem
     */
    @SuppressWarnings("unchecked") // a record of the same class
    public static <T> T with(T config, String... settings) {
        Record before = (Record) config;
        Class<? extends Record> type = before.getClass();
        ConfigNode.Mapping changed =
                ConfigFile.withOverrides(
                        Unbinding.changes(before, SETTINGS),
                        List.of(settings),
                        SETTINGS.source(),
                        each -> complete(each, type));
        return (T) bind(changed, type);
    }

    /**
     * Returns a copy of a record with changed settings, applied in order.
     *
     * @param settings paths such as {@code data.batch_size}, with values as in {@link #of(Class,
     *     Map)}; a different {@code type} or {@code variant} resets other settings to its defaults
     * @throws SaccadeException of kind user that lists every problem
     */
    @SuppressWarnings("unchecked") // a record of the same class
    public static <T> T with(T config, Collection<? extends Map.Entry<String, ?>> settings) {
        Record before = (Record) config;
        Class<? extends Record> type = before.getClass();
        Problems problems = new Problems();
        ConfigNode.Mapping changed = Unbinding.changes(before, SETTINGS);
        for (Map.Entry<String, ?> setting : settings) {
            ConfigNode value = Unbinding.node(setting.getValue(), SETTINGS);
            try {
                changed =
                        ConfigOverride.of(setting.getKey(), value)
                                .applyTo(changed, each -> complete(each, type));
            } catch (SaccadeException e) {
                problems.add("%s: %s: %s", SETTINGS, setting.getKey(), e.getMessage());
            }
        }
        return (T) Binding.bind(changed, type, problems);
    }

    /**
     * Applies overrides in order, like {@link ConfigFile#load}; they may also address items of
     * lists in the defaults of {@code type}.
     *
     * @throws SaccadeException of kind user if an override is not {@code key=value} or addresses a
     *     missing list item
     */
    public static ConfigNode.Mapping withOverrides(
            ConfigNode.Mapping config, List<String> overrides, Class<? extends Record> type) {
        return withOverrides(config, overrides, ConfigFile.SETTINGS, type);
    }

    /**
     * Applies overrides like {@link #withOverrides}; {@code source} is the origin of the values.
     */
    public static ConfigNode.Mapping withOverrides(
            ConfigNode.Mapping config,
            List<String> overrides,
            String source,
            Class<? extends Record> type) {
        return ConfigFile.withOverrides(config, overrides, source, each -> complete(each, type));
    }

    /** Returns a config including defaults; empty if it is invalid. */
    private static Optional<ConfigNode.Mapping> complete(
            ConfigNode.Mapping config, Class<? extends Record> type) {
        try {
            return Optional.of(unbind(bind(config, type)));
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    /**
     * Converts a config, or a section of it, to a record.
     *
     * @throws SaccadeException of kind user that lists every unknown key, wrong type, unknown
     *     component and invalid value with file, line and dotted key
     */
    public static <T extends Record> T bind(ConfigNode config, Class<T> type) {
        return Binding.bind(config, type, new Problems());
    }

    /** Converts a record to a config, including defaults. */
    public static ConfigNode.Mapping unbind(Record value) {
        return Unbinding.all(value);
    }

    /**
     * Converts a record to a config without default values. A different {@code type} or {@code
     * variant} merged into it later brings its own defaults.
     */
    public static ConfigNode.Mapping unbindChanges(Record value) {
        return Unbinding.changes(value, Origin.DEFAULT);
    }

    /**
     * Returns the registered components that implement {@code kind}, by {@code type}.
     *
     * @throws SaccadeException of kind user if two have the same type or one cannot be loaded
     */
    public static <P extends ComponentConfig> Map<String, Class<? extends P>> registered(
            Class<P> kind) {
        return new Components().registered(kind);
    }

    /**
     * Returns the components that implement {@code kind}, with default settings; omits components
     * with required settings.
     */
    public static <P extends ComponentConfig> List<P> defaults(Class<P> kind) {
        return registered(kind).values().stream()
                .flatMap(component -> Binding.defaults(component.asSubclass(Record.class)).stream())
                .map(kind::cast)
                .toList();
    }

    /**
     * Returns the variants of a component by name: {@code swin_tiny}, or only the variant name
     * ({@code resnet50}) if the record has no setting {@code variant}. Without variants, returns
     * the default component by its type.
     */
    public static <P extends ComponentConfig> Map<String, P> variants(Class<? extends P> family) {
        Class<? extends Record> type = family.asSubclass(Record.class);
        String name = Components.name(family);
        Variant[] variants = type.getAnnotationsByType(Variant.class);
        if (variants.length == 0) {
            return Map.of(name, family.cast(of(type)));
        }
        boolean selects = Defaults.variant(type).isPresent();
        ImmutableMap.Builder<String, P> members = ImmutableMap.builder();
        for (Variant variant : variants) {
            String member = (selects ? name + "_" : "") + variant.name();
            Record config =
                    selects
                            ? of(type, Binding.VARIANT + "=" + variant.name())
                            : bind(Defaults.settings(variant), type);
            members.put(member, family.cast(config));
        }
        return members.buildOrThrow();
    }
}

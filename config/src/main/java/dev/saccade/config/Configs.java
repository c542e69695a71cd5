package dev.saccade.config;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.core.parts.Unwrapped;
import dev.saccade.core.parts.Variant;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes records of settings by name, and writes them down.
 *
 * <p>The keys of a record are its components in snake case. A missing key takes the default: what
 * the {@link Variant} that {@code variant} names has there, else what the enclosing record's
 * default has, else the component's own {@link Default}; where there is none, the key is required.
 * Components are {@code int}, {@code long}, {@code float}, {@code double}, {@code boolean}, {@link
 * String}, {@link java.nio.file.Path}, enums (in lower snake case), records (maybe {@link
 * Unwrapped}), {@link Optional} (nothing or {@code null} is empty), {@link List} and {@link Map}
 * from strings, and interfaces that extend {@link PartConfig}, whose record the key {@code type}
 * chooses among those of all {@link PartProvider}s.
 */
public final class Configs {

    /** Where settings of a program come from, for messages. */
    private static final Origin SETTINGS = new Origin("settings", 0, 0);

    private Configs() {}

    /**
     * Returns a record with settings by name, the others as by default.
     *
     * @param settings such as {@code variant=tiny} or {@code depths=[2, 2, 6, 2]}, the value in
     *     YAML
     * @throws SaccadeException of kind user that lists every mistake
     */
    public static <T extends Record> T of(Class<T> type, String... settings) {
        ConfigNode.Mapping none = new ConfigNode.Mapping(Map.of(), Origin.DEFAULT);
        return bind(
                ConfigFile.withOverrides(
                        none, List.of(settings), SETTINGS.source(), config -> Optional.empty()),
                type);
    }

    /**
     * Returns a record with settings by name, the others as by default.
     *
     * @param settings by key, such as {@code "neck"}: Java's form of what YAML holds, or records
     * @throws SaccadeException of kind user that lists every mistake
     */
    public static <T extends Record> T of(Class<T> type, Map<String, ?> settings) {
        return bind(Unbinding.node(settings, SETTINGS), type);
    }

    /**
     * Returns the same record with other settings.
     *
     * @param config a record
     * @param settings as {@link #of} takes them; another {@code type} or {@code variant} brings its
     *     own defaults
     * @throws SaccadeException of kind user that lists every mistake
     */
    @SuppressWarnings("unchecked") // a record of the same class
    public static <T> T with(T config, String... settings) {
        Record before = (Record) config;
        Class<? extends Record> type = before.getClass();
        ConfigNode.Mapping changed =
                ConfigFile.withOverrides(
                        unbindChanges(before),
                        List.of(settings),
                        SETTINGS.source(),
                        each -> complete(each, type));
        return (T) bind(changed, type);
    }

    /**
     * Returns a config with overrides laid over it, in their order, as {@link ConfigFile#load}
     * does.
     *
     * @param type the record that it describes: overrides reach into lists that the config leaves
     *     as they are by default
     * @throws SaccadeException of kind user, if an override is no {@code key=value} or means an
     *     item that a list does not have
     */
    public static ConfigNode.Mapping withOverrides(
            ConfigNode.Mapping config, List<String> overrides, Class<? extends Record> type) {
        return ConfigFile.withOverrides(
                config, overrides, ConfigFile.SET, each -> complete(each, type));
    }

    /** Returns a config with its defaults; empty if it is invalid, which {@link #bind} reports. */
    private static Optional<ConfigNode.Mapping> complete(
            ConfigNode.Mapping config, Class<? extends Record> type) {
        try {
            return Optional.of(unbind(bind(config, type)));
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns the record that a config describes.
     *
     * @param config a whole config, or a section of one
     * @throws SaccadeException of kind user that lists every unknown key, wrong type, unknown
     *     component and impossible value with file, line and dotted key
     */
    public static <T extends Record> T bind(ConfigNode config, Class<T> type) {
        return Binding.bind(config, type);
    }

    /** Returns the config that {@link #bind} makes an equal record of, defaults written out. */
    public static ConfigNode.Mapping unbind(Record value) {
        return Unbinding.all(value);
    }

    /**
     * Returns the config that {@link #bind} makes an equal record of, without default values;
     * another {@code type} or {@code variant} laid over it brings its own defaults.
     */
    public static ConfigNode.Mapping unbindChanges(Record value) {
        return Unbinding.changes(value);
    }

    /**
     * Returns the records that {@code type} may name where a config wants a component of a kind, by
     * type.
     *
     * @throws SaccadeException of kind user if two claim one type or one cannot be loaded
     */
    public static <P extends PartConfig> Map<String, Class<? extends P>> registered(Class<P> kind) {
        return new Parts().registered(kind);
    }

    /**
     * Returns the components of a kind with their default settings; those that require a setting
     * are left out.
     */
    public static <P extends PartConfig> List<P> defaults(Class<P> kind) {
        return registered(kind).values().stream()
                .flatMap(part -> Binding.defaults(part.asSubclass(Record.class)).stream())
                .map(kind::cast)
                .toList();
    }

    /**
     * Returns the published members of a family by the names they go by, such as {@code swin_tiny}:
     * the type and the variant, or the latter alone where no key selects it, as {@code resnet50}. A
     * family without variants has one member, of the name of its type.
     */
    public static <P extends PartConfig> Map<String, P> variants(Class<? extends P> family) {
        Class<? extends Record> type = family.asSubclass(Record.class);
        String name = Parts.name(family);
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

package dev.saccade.config;

import com.google.common.base.Suppliers;
import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A setting such as {@code model.backbone.depth=50}, laid over a config. Items of lists go by their
 * number, {@code data.train_transforms.0.divisor=32} or {@code
 * data.train_transforms[0].divisor=32}.
 *
 * @param keys from the root
 * @param value in YAML
 */
record Assignment(List<String> keys, ConfigNode value) {

    private static final Pattern FORM =
            Pattern.compile("([A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+|\\[\\d+])*)=(.*)", Pattern.DOTALL);

    /** What a config has where it says nothing. */
    interface Usual {

        /** Says no more than the config does. */
        Usual UNKNOWN = config -> Optional.empty();

        /** Returns a whole config, defaults written out; nothing if that cannot be told. */
        Optional<ConfigNode.Mapping> of(ConfigNode.Mapping config);
    }

    /**
     * Reads one.
     *
     * @throws SaccadeException of kind user, if it is no {@code key=value}
     */
    static Assignment parse(String text, Origin origin) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw SaccadeException.user("expected key.key=value");
        }
        String place = matcher.group(1).replace('[', '.').replace("]", "");
        return new Assignment(
                List.of(place.split("\\.")), YamlReader.read(matcher.group(2), origin));
    }

    /**
     * Returns a config with this value.
     *
     * @param usual has the lists that the config leaves as they are by default
     * @throws SaccadeException of kind user, if an item is meant that a list does not have
     */
    ConfigNode.Mapping laidOver(ConfigNode.Mapping config, Usual usual) {
        Supplier<Optional<ConfigNode.Mapping>> whole = Suppliers.memoize(() -> usual.of(config));
        return config.overlaidBy((ConfigNode.Mapping) over(config, 0, whole));
    }

    /** Returns what is to be laid over the value at the place of so many keys. */
    private ConfigNode over(
            ConfigNode old, int depth, Supplier<Optional<ConfigNode.Mapping>> whole) {
        if (depth == keys.size()) {
            return value;
        }
        String key = keys.get(depth);
        if (old instanceof ConfigNode.Sequence list) {
            return inList(list, key, depth, whole);
        }
        Optional<ConfigNode> below =
                old instanceof ConfigNode.Mapping mapping ? mapping.get(key) : Optional.empty();
        if (below.isEmpty() && depth + 1 < keys.size() && isNumber(keys.get(depth + 1))) {
            below = whole.get().flatMap(config -> at(config, keys.subList(0, depth + 1)));
        }
        ConfigNode nothing = new ConfigNode.Nothing(value.origin());
        return new ConfigNode.Mapping(
                Map.of(key, over(below.orElse(nothing), depth + 1, whole)), value.origin());
    }

    private static Optional<ConfigNode> at(ConfigNode.Mapping config, List<String> place) {
        Optional<ConfigNode> node = Optional.of(config);
        for (String key : place) {
            node =
                    node.flatMap(
                            each ->
                                    each instanceof ConfigNode.Mapping mapping
                                            ? mapping.get(key)
                                            : Optional.empty());
        }
        return node.filter(ConfigNode.Sequence.class::isInstance);
    }

    private ConfigNode inList(
            ConfigNode.Sequence list,
            String key,
            int depth,
            Supplier<Optional<ConfigNode.Mapping>> whole) {
        Integer index = isNumber(key) ? Ints.tryParse(key) : null;
        int size = list.items().size();
        if (index == null || index >= size) {
            throw SaccadeException.user(
                    "%s: got %s, expected %s",
                    String.join(".", keys.subList(0, depth)),
                    key,
                    size == 0
                            ? "no item, as the list is empty"
                            : "one of the items 0 to " + (size - 1) + " of the list");
        }
        ConfigNode old = list.items().get(index);
        ConfigNode over = over(old, depth + 1, whole);
        List<ConfigNode> items = new ArrayList<>(list.items());
        items.set(
                index,
                old instanceof ConfigNode.Mapping below && over instanceof ConfigNode.Mapping above
                        ? below.overlaidBy(above)
                        : over);
        return new ConfigNode.Sequence(items, list.origin());
    }

    private static boolean isNumber(String key) {
        return key.matches("\\d+");
    }
}

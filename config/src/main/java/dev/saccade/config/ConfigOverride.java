package dev.saccade.config;

import com.google.common.base.CharMatcher;
import com.google.common.base.Suppliers;

import dev.saccade.core.SaccadeException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An override such as {@code model.backbone.depth=50}. List items are addressed by index: {@code
 * data.train_transforms.0.divisor=32} or {@code data.train_transforms[0].divisor=32}.
 */
record ConfigOverride(List<String> keys, ConfigNode value) {

    private static final CharMatcher DIGITS = CharMatcher.inRange('0', '9');

    private static final Pattern PATH =
            Pattern.compile("[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+|\\[\\d+])*");

    private static final Pattern FORM = Pattern.compile("(" + PATH + ")=(.*)", Pattern.DOTALL);

    /**
     * Parses an override.
     *
     * @throws SaccadeException of kind user if it is not {@code key=value}
     */
    static ConfigOverride parse(String text, Origin origin) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw SaccadeException.user("expected key.key=value");
        }
        return new ConfigOverride(
                ConfigNode.steps(matcher.group(1)), YamlReader.read(matcher.group(2), origin));
    }

    /**
     * Creates an override of the setting at a path.
     *
     * @throws SaccadeException of kind user if the path is malformed
     */
    static ConfigOverride of(String path, ConfigNode value) {
        if (!PATH.matcher(path).matches()) {
            throw SaccadeException.user(
                    "malformed setting; expected a path such as data.batch_size");
        }
        return new ConfigOverride(ConfigNode.steps(path), value);
    }

    /**
     * Returns a config with this override.
     *
     * @param defaults adds the defaults to a valid config; used if the config omits an item's list
     * @throws SaccadeException of kind user if the override addresses a missing list item
     */
    ConfigNode.Mapping applyTo(
            ConfigNode.Mapping config,
            Function<ConfigNode.Mapping, Optional<ConfigNode.Mapping>> defaults) {
        Supplier<Optional<ConfigNode>> complete =
                Suppliers.memoize(() -> defaults.apply(config).map(whole -> whole));
        return config.mergedWith((ConfigNode.Mapping) replacement(config, complete, 0));
    }

    /**
     * Returns the tree to merge into {@code old}, the value at the path of the first {@code depth}
     * keys; {@code complete} is this value with defaults.
     */
    private ConfigNode replacement(
            ConfigNode old, Supplier<Optional<ConfigNode>> complete, int depth) {
        if (depth == keys.size()) {
            return value;
        }
        String key = keys.get(depth);
        Supplier<Optional<ConfigNode>> below =
                () -> complete.get().flatMap(node -> node.child(key));
        if (old instanceof ConfigNode.Sequence list) {
            return withItem(list, key, below, depth);
        }
        Optional<ConfigNode> next = old.child(key);
        if (next.isEmpty() && depth + 1 < keys.size() && DIGITS.matchesAllOf(keys.get(depth + 1))) {
            next = below.get().filter(ConfigNode.Sequence.class::isInstance);
        }
        ConfigNode place = next.orElse(new ConfigNode.Null(value.origin()));
        return new ConfigNode.Mapping(
                Map.of(key, replacement(place, below, depth + 1)), value.origin());
    }

    private ConfigNode withItem(
            ConfigNode.Sequence list,
            String key,
            Supplier<Optional<ConfigNode>> complete,
            int depth) {
        int last = list.items().size() - 1;
        Optional<ConfigNode> old = list.child(key);
        if (old.isEmpty()) {
            throw SaccadeException.user(
                    "%s: got %s, expected %s",
                    String.join(".", keys.subList(0, depth)),
                    key,
                    last < 0
                            ? "no index, because the list is empty"
                            : "an index from 0 to " + last);
        }
        List<ConfigNode> items = new ArrayList<>(list.items());
        ConfigNode over = replacement(old.get(), complete, depth + 1);
        items.set(Integer.parseInt(key), ConfigNode.merge(old.get(), over));
        return new ConfigNode.Sequence(items, list.origin());
    }
}

package dev.saccade.config;

import com.google.common.collect.Lists;

import dev.saccade.core.Problems;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads a YAML file, its bases and overrides into one tree.
 *
 * <p>{@code base: [a.yaml, b.yaml]} lists files relative to the folder of the file; later files and
 * the file itself override earlier ones, see {@link ConfigNode.Mapping#mergedWith}. {@code
 * saccade:_base_/runtime.yaml} is one of Saccade's own configs.
 */
public final class ConfigFile {

    static final int MAX_BYTES = 1 << 20;

    private static final String BASE = "base";

    /** Origin of settings passed by a program, shown in messages. */
    static final String SETTINGS = "settings";

    /** Prefix of Saccade's own configs. */
    private static final String BUNDLED = "saccade:";

    private final boolean packaged;
    private final Map<Path, ConfigNode.Mapping> loaded = new HashMap<>();
    private final List<Path> chain = new ArrayList<>();

    private ConfigFile(boolean packaged) {
        this.packaged = packaged;
    }

    /**
     * Reads a file with its bases and applies overrides.
     *
     * @param overrides settings such as {@code model.backbone.depth=50} with YAML values, applied
     *     in order; unknown keys are reported by {@link Configs#bind}
     * @throws SaccadeException of kind user if a file is missing, too large, not YAML or its own
     *     base, or an override is not {@code key=value} or addresses a missing list item
     */
    public static ConfigNode.Mapping load(Path file, List<String> overrides) {
        return withOverrides(new ConfigFile(/* packaged= */ false).resolve(file), overrides);
    }

    /**
     * Applies overrides such as {@code model.backbone.depth=50} in order.
     *
     * @throws SaccadeException of kind user if an override is not {@code key=value} or addresses a
     *     missing list item
     */
    public static ConfigNode.Mapping withOverrides(
            ConfigNode.Mapping config, List<String> overrides) {
        return withOverrides(config, overrides, SETTINGS, each -> Optional.empty());
    }

    /** Applies overrides from {@code source} in order; see {@link ConfigOverride#applyTo}. */
    static ConfigNode.Mapping withOverrides(
            ConfigNode.Mapping config,
            List<String> overrides,
            String source,
            Function<ConfigNode.Mapping, Optional<ConfigNode.Mapping>> defaults) {
        Problems problems = new Problems();
        Origin origin = new Origin(source, 0, 0);
        ConfigNode.Mapping result = config;
        for (String override : overrides) {
            try {
                result = ConfigOverride.parse(override, origin).applyTo(result, defaults);
            } catch (SaccadeException e) {
                problems.add("%s %s: %s", source, override, e.getMessage());
            }
        }
        problems.throwIfAny("config");
        return result;
    }

    /**
     * Reads a config from the jar with its bases; see {@link #bundled}.
     *
     * @param name path below {@code configs/}, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco.yaml}
     * @throws SaccadeException of kind user if it does not exist
     */
    public static ConfigNode.Mapping packaged(String name) {
        return new ConfigFile(/* packaged= */ true).resolve(Path.of(name));
    }

    /**
     * Reads one of Saccade's own configs with its bases: from the checkout in the system property
     * {@code saccade.home} if it is there, else from the jar.
     *
     * @param name as in {@link #packaged}
     */
    public static ConfigNode.Mapping bundled(String name) {
        return new ConfigFile(/* packaged= */ false).bundledBase(name);
    }

    private ConfigNode.Mapping bundledBase(String name) {
        Path path = BundledConfigs.inside(name);
        return BundledConfigs.folder()
                .map(configs -> configs.resolve(path))
                .filter(Files::isRegularFile)
                .map(this::resolve)
                .orElseGet(() -> packaged(path.toString()));
    }

    private InputStream open(Path file) throws IOException {
        if (packaged) {
            return BundledConfigs.resource(file);
        }
        if (Files.isDirectory(file)) {
            throw new NoSuchFileException(file.toString());
        }
        return RegularFile.open(file);
    }

    /**
     * Parses a text, such as the config of a checkpoint; {@code source} is its origin for messages.
     */
    public static ConfigNode.Mapping parse(String text, String source) {
        return mapping(YamlReader.read(text, new Origin(source, 1, 1)), source);
    }

    /** Parses a text like {@link #parse}, but keeps all scalars as strings. */
    public static ConfigNode.Mapping parseAsStrings(String text, String source) {
        return mapping(YamlReader.readAsStrings(text, new Origin(source, 1, 1)), source);
    }

    private static ConfigNode.Mapping mapping(ConfigNode root, String subject) {
        if (root instanceof ConfigNode.Null) {
            throw SaccadeException.user("%s: empty file; expected a config", subject);
        }
        if (!(root instanceof ConfigNode.Mapping mapping)) {
            throw SaccadeException.user(
                    "%s: expected lines of \"key: value\", got %s", subject, root.describe());
        }
        return mapping;
    }

    private ConfigNode.Mapping resolve(Path file) {
        Path key = file.toAbsolutePath().normalize();
        boolean cycle = chain.stream().anyMatch(f -> f.toAbsolutePath().normalize().equals(key));
        chain.add(file);
        if (cycle) {
            throw SaccadeException.user(
                    "%s: cyclic base; a file must not be its own base", chainText());
        }
        ConfigNode.Mapping content = loaded.get(key);
        if (content == null) {
            content = withBases(file, root(file));
            loaded.put(key, content);
        }
        chain.remove(chain.size() - 1);
        return content;
    }

    private ConfigNode.Mapping withBases(Path file, ConfigNode.Mapping content) {
        if (content.get(BASE).isEmpty()) {
            return content;
        }
        Map<String, ConfigNode> own = new LinkedHashMap<>(content.entries());
        ConfigNode.Mapping result = new ConfigNode.Mapping(Map.of(), content.origin());
        for (String base : bases(own.remove(BASE))) {
            result =
                    result.mergedWith(
                            base.startsWith(BUNDLED)
                                    ? bundledBase(base.substring(BUNDLED.length()))
                                    : resolve(file.resolveSibling(base).normalize()));
        }
        return result.mergedWith(new ConfigNode.Mapping(own, content.origin()));
    }

    private static List<String> bases(ConfigNode node) {
        List<ConfigNode> items =
                node instanceof ConfigNode.Sequence sequence ? sequence.items() : List.of(node);
        List<String> bases = new ArrayList<>();
        for (ConfigNode item : items) {
            if (!(item instanceof ConfigNode.Scalar scalar)
                    || !(scalar.value() instanceof String text)
                    || !isPath(text)) {
                throw SaccadeException.user(
                        "%s: base: expected a file name or a list of file names", item.origin());
            }
            bases.add(text);
        }
        return bases;
    }

    private static boolean isPath(String text) {
        try {
            return !Path.of(text).toString().isEmpty();
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private ConfigNode.Mapping root(Path file) {
        return mapping(YamlReader.read(text(file), new Origin(file.toString(), 1, 1)), chainText());
    }

    private String text(Path file) {
        byte[] bytes;
        try (InputStream in = open(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", chainText());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", chainText(), e.getMessage());
        }
        if (bytes.length > MAX_BYTES) {
            throw SaccadeException.user("%s: got more than 1 MB, expected a config", chainText());
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw SaccadeException.user("%s: invalid UTF-8; save the file as UTF-8", chainText());
        }
    }

    /** Describes the current file: {@code c.yaml (base of b.yaml, base of a.yaml)}. */
    private String chainText() {
        List<Path> files = Lists.reverse(chain);
        String bases =
                files.stream()
                        .skip(1)
                        .map(file -> "base of " + file)
                        .collect(Collectors.joining(", ", " (", ")"));
        return files.get(0) + (files.size() > 1 ? bases : "");
    }
}

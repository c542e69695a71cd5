package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A folder of recorded numbers. It remembers which settings and arrays were used: a case in which
 * something was never looked at does not pass.
 */
final class Case implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final Settings settings;
    private final Map<String, NumpyArray> arrays;
    private final Set<String> unused;
    private final NDManager manager = NDManager.newBaseManager();
    private final List<Settings> others = new ArrayList<>();
    private final List<String> differences = new ArrayList<>();
    private double worst;
    private String worstArray = "all exact";

    private Case(Path folder, Settings settings, Map<String, NumpyArray> arrays) {
        this.folder = folder;
        this.settings = settings;
        this.arrays = arrays;
        this.unused = new TreeSet<>(arrays.keySet());
    }

    /** Reads {@code case.json} and, where there is one, {@code io.npz}. */
    static Case open(Path folder) {
        JsonNode described = json(folder.resolve("case.json"));
        Settings settings = new Settings(title(folder), "", described);
        settings.describes("source", "note", "tolerance", "arrays", "seed", "files");
        return new Case(folder, settings, Npz.readIfPresent(folder.resolve("io.npz")));
    }

    private static String title(Path folder) {
        return "case " + folder.getFileName();
    }

    private static JsonNode json(Path file) {
        try {
            return JSON.readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }

    String kind() {
        return settings.text("kind");
    }

    Settings settings() {
        return settings;
    }

    /** Returns the hyper-parameters, the key {@code config}. */
    Settings config() {
        return settings.object("config");
    }

    /** Returns a file of the folder. */
    Path file(String name) {
        return folder.resolve(name);
    }

    /** Returns the JSON object that stands in another file of the folder. */
    Settings settings(String file) {
        Settings content = new Settings(title(folder), file, json(file(file)));
        others.add(content);
        return content;
    }

    boolean has(String array) {
        return arrays.containsKey(array);
    }

    /** Returns the names of arrays that begin with a prefix, in alphabetical order. */
    Set<String> names(String prefix) {
        Set<String> names = new TreeSet<>(arrays.keySet());
        names.removeIf(name -> !name.startsWith(prefix));
        return names;
    }

    /** Returns an array and counts it as used. */
    NumpyArray array(String name) {
        if (!has(name)) {
            throw new AssertionError("io.npz has no " + name);
        }
        unused.remove(name);
        return arrays.get(name);
    }

    /** Returns an array as a float32 tensor that lives until the case is closed. */
    NDArray tensor(String name) {
        return array(name).tensor(manager);
    }

    /** Owns what lives until the case is closed. */
    NDManager manager() {
        return manager;
    }

    /** Looks whether numbers agree with the recorded ones of this name. */
    void compare(String name, NumpyArray actual, Tolerance tolerance) {
        compare(name, array(name), actual, tolerance);
    }

    /** Looks whether a tensor agrees with the recorded one of this name. */
    void compare(String name, NDArray actual, Tolerance tolerance) {
        compare(name, NumpyArray.of(actual), tolerance);
    }

    /** Looks whether numbers agree with recorded ones that need not be in {@code io.npz}. */
    void compare(String name, NumpyArray expected, NumpyArray actual, Tolerance tolerance) {
        try {
            double deviation = tolerance.check(name, expected, actual);
            if (deviation > worst) {
                worst = deviation;
                worstArray = name;
            }
        } catch (AssertionError difference) {
            differences.add(difference.getMessage());
        }
    }

    /** Returns the largest deviation of all comparisons as a part of what was allowed. */
    String worst() {
        return worst == 0 ? worstArray : Text.format("%.4f of tolerance at %s", worst, worstArray);
    }

    /**
     * Fails on settings and arrays that nobody looked at, and on numbers that differ; on the
     * settings first, for numbers differ where one is passed over.
     */
    void check() {
        List<String> faults = new ArrayList<>();
        unread().forEach(
                        name ->
                                faults.add(
                                        String.format(
                                                Locale.ROOT,
                                                "%s: setting %s is not known",
                                                title(folder),
                                                name)));
        faults.addAll(differences);
        unused.forEach(array -> faults.add("array " + array + " was never looked at"));
        if (!faults.isEmpty()) {
            throw new AssertionError(String.join("\n", faults));
        }
    }

    /** Returns the failure of a case that came to no end, for which a setting may be the reason. */
    AssertionError stoppedBy(Throwable reason) {
        List<String> faults = new ArrayList<>(differences);
        faults.add(reason + "; until then nobody asked for the settings " + unread().toList());
        return new AssertionError(String.join("\n", faults), reason);
    }

    private Stream<String> unread() {
        return Stream.concat(Stream.of(settings), others.stream()).flatMap(Settings::unread);
    }

    @Override
    public void close() {
        manager.close();
    }
}

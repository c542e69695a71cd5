package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** A recorded case. It tracks used settings and arrays; a case with unused ones fails. */
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

    /** Reads {@code case.json} and, if it exists, {@code io.npz}. */
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

    /** Returns the hyperparameters under {@code config}. */
    Settings config() {
        return settings.object("config");
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /** Reads another JSON file of the case. */
    Settings settings(String file) {
        Settings content = new Settings(title(folder), file, json(file(file)));
        others.add(content);
        return content;
    }

    boolean has(String array) {
        return arrays.containsKey(array);
    }

    /** Returns the array names with a prefix in alphabetical order. */
    Set<String> names(String prefix) {
        Set<String> names = new TreeSet<>(arrays.keySet());
        names.removeIf(name -> !name.startsWith(prefix));
        return names;
    }

    /** Returns an array and marks it as used. */
    NumpyArray array(String name) {
        if (!has(name)) {
            throw new AssertionError("io.npz has no " + name);
        }
        unused.remove(name);
        return arrays.get(name);
    }

    /** Returns the arrays with a prefix as a checkpoint; its names have no prefix. */
    Checkpoint checkpoint(String prefix) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String name : names(prefix)) {
            NumpyArray values = array(name);
            tensors.put(
                    name.substring(prefix.length()),
                    Tensor.of(new Shape(values.shape()), values.floats()));
        }
        return new Checkpoint(tensors, Map.of());
    }

    /** Returns an array as a float32 tensor, owned by the case. */
    NDArray tensor(String name) {
        return array(name).tensor(manager);
    }

    /** Owns all arrays of the case. */
    NDManager manager() {
        return manager;
    }

    /** Compares values with a recorded array. */
    void compare(String name, NumpyArray actual, Tolerance tolerance) {
        compare(name, array(name), actual, tolerance);
    }

    /** Compares a tensor with a recorded array. */
    void compare(String name, NDArray actual, Tolerance tolerance) {
        compare(name, NumpyArray.of(actual), tolerance);
    }

    /** Compares values with recorded values that may come from another file. */
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

    /** Returns the largest deviation relative to the tolerance. */
    String worst() {
        return worst == 0 ? worstArray : Text.format("%.4f of tolerance at %s", worst, worstArray);
    }

    /**
     * Fails on unused settings and arrays, and on deviations. Unused settings come first, as they
     * often cause deviations.
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

    /**
     * Returns the failure of a case that threw an exception, which an unused setting may have
     * caused.
     */
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

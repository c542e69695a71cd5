package dev.saccade.checkpoint.weights;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.base.Ascii;
import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Maps;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import com.google.common.collect.Sets;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport.Status;
import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.MemoryFormat;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** Assigns the tensors of a checkpoint to the parameters of a module. */
final class WeightMatch {

    /** Minimum fraction of equal shapes to suggest that only names differ. */
    private static final double SAME_SHAPES = 0.9;

    private static final int MAX_NAMES = 5;

    private final Map<String, Parameter> parameters;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final List<String> ofOtherParts = new ArrayList<>();

    /** Interpolated position tables and extended first layers, with shapes and method. */
    private final Map<String, String> resized = new LinkedHashMap<>();

    private final List<String> integers;
    private final List<String> notFinite = new ArrayList<>();
    private final ClassLayers classLayers;
    private final CheckpointRules rules = InstalledRules.all();
    private final KeyPatterns patterns = new KeyPatterns(rules);
    private final NameSearch.Mapping mapping;
    private final List<String> notes;

    /** Why class layers stay as initialized, by parameter name. */
    private final Map<String, String> freshClasses = new LinkedHashMap<>();

    WeightMatch(Checkpoint checkpoint, Module module, ClassLayers classLayers) {
        this.parameters = module.namedParameters();
        NameSearch search =
                new NameSearch(
                        checkpoint.tensors(),
                        Maps.transformValues(parameters, Parameter::getShape),
                        rules);
        this.mapping = search.best();
        this.classLayers =
                classLayers.orElse(mapping.table().map(NameTable::classes).orElse(List.of()));
        this.notes = new ArrayList<>(checkpoint.notes());
        notes.addAll(search.notes());
        Checkpoint part = mapping.strip(checkpoint);
        Checkpoint named = mapping.table().map(table -> Naming.toSaccade(part, table)).orElse(part);
        Set<String> others =
                Sets.filter(
                        checkpoint.tensors().keySet(), name -> !name.startsWith(mapping.removed()));
        named.tensors()
                .forEach(
                        (name, tensor) -> {
                            String ours = mapping.added() + name;
                            if (parameters.containsKey(ours)) {
                                Checkpoint.putNew(tensors, ours, tensor);
                            } else if (parameters.containsKey(name) || !others.contains(name)) {
                                Checkpoint.putNew(tensors, name, tensor);
                            } else {
                                ofOtherParts.add(name);
                            }
                        });
        this.integers =
                Sets.intersection(tensors.keySet(), parameters.keySet()).stream()
                        .filter(name -> !tensors.get(name).type().isFloating())
                        .toList();
    }

    /** Returns a match of all parameters; throws if a parameter has no tensor of its shape. */
    static WeightMatch complete(Checkpoint checkpoint, Module module) {
        WeightMatch match = new WeightMatch(checkpoint, module, ClassLayers.NONE);
        LoadReport report = match.report();
        if (!report.isComplete()) {
            throw SaccadeException.user("the checkpoint does not match this model: %s", report);
        }
        return match;
    }

    /** Interpolates position tables of another size. */
    void fitPositions() {
        for (String name : Sets.intersection(parameters.keySet(), tensors.keySet())) {
            Tensor table = tensors.get(name);
            Shape expected = shape(name);
            if (!fits(name)) {
                rules.positions().stream()
                        .filter(kind -> kind.name().matches(name))
                        .findFirst()
                        .flatMap(kind -> PositionTables.fit(kind, table, expected))
                        .ifPresent(fitted -> resize(name, fitted));
            }
        }
    }

    /** Extends first convolutions of RGB images to the channels of the model. */
    void fitStems(StemInit rule) {
        for (String name : Sets.intersection(parameters.keySet(), tensors.keySet())) {
            Tensor rgb = tensors.get(name);
            if (StemInit.applies(rgb.shape(), shape(name))) {
                String how = "stem_init: " + Ascii.toLowerCase(rule.name());
                resize(name, new PositionTables.Fitted(rule.extend(rgb, shape(name)), how));
            }
        }
    }

    private void resize(String name, PositionTables.Fitted fitted) {
        Shape found = tensors.put(name, fitted.tensor()).shape();
        resized.put(name, Text.format("from %s to %s, %s", found, shape(name), fitted.how()));
    }

    /** Reorders rows of class layers by class name. */
    void matchClasses() {
        Set<String> moved = new LinkedHashSet<>();
        Set<String> unnamed = new LinkedHashSet<>();
        boolean isNamed = false;
        for (String name : Sets.intersection(classLayers.rows().keySet(), tensors.keySet())) {
            Tensor tensor = tensors.get(name);
            ClassLayers.Plan plan =
                    classLayers.plan(name, tensor.shape(), shape(name), patterns.classRows(name));
            isNamed |= !(plan instanceof ClassLayers.Plan.Unnamed);
            if (plan instanceof ClassLayers.Plan.Moved rows) {
                moved.add(layer(name));
                tensors.put(name, moved(name, rows.sources()));
            } else if (plan instanceof ClassLayers.Plan.Unnamed) {
                unnamed.add(layer(name));
            } else if (plan instanceof ClassLayers.Plan.Fresh fresh) {
                freshClasses.put(name, fresh.reason());
            }
        }
        if (isNamed && !classLayers.theirs().isEmpty() && !classLayers.match().isNone()) {
            notes.addAll(classLayers.match().describe());
        }
        if (!moved.isEmpty()) {
            notes.add("rows selected by class name in: " + String.join(", ", moved));
        }
        if (!unnamed.isEmpty()) {
            notes.add(
                    "warning: the checkpoint has no class names; check that these layers"
                            + " have the same classes in the same order: "
                            + String.join(", ", unnamed));
        }
    }

    /**
     * Returns a hint if at least {@link #SAME_SHAPES} of the missing parameters have an unexpected
     * tensor of their shape; else empty.
     */
    String renamingHint() {
        Multiset<Shape> spare = HashMultiset.create();
        Sets.difference(tensors.keySet(), parameters.keySet())
                .forEach(name -> spare.add(tensors.get(name).shape()));
        Multiset<Shape> needed = HashMultiset.create();
        Sets.difference(parameters.keySet(), tensors.keySet()).stream()
                .filter(name -> name.startsWith(mapping.added()))
                .forEach(name -> needed.add(shape(name)));
        int same = Multisets.intersection(spare, needed).size();
        return needed.isEmpty() || same < SAME_SHAPES * needed.size()
                ? ""
                : Text.format(
                        "; %d of %d missing parameters have the shape of an unexpected tensor:"
                                + " rename the tensors to the missing names",
                        same, needed.size());
    }

    private static String layer(String name) {
        return name.substring(0, Math.max(name.lastIndexOf('.'), 0));
    }

    /** Returns a tensor of the given checkpoint rows; -1 keeps the row of the parameter. */
    private Tensor moved(String name, ImmutableIntArray sources) {
        Shape shape = shape(name);
        FloatBuffer theirs = tensors.get(name).floats();
        FloatBuffer own = Tensor.of(parameters.get(name).getArray()).floats();
        float[] values = new float[Math.toIntExact(shape.size())];
        int length = values.length / sources.length();
        for (int row = 0; row < sources.length(); row++) {
            boolean isKept = sources.get(row) < 0;
            int begin = (isKept ? row : sources.get(row)) * length;
            (isKept ? own : theirs).get(begin, values, row * length, length);
        }
        return Tensor.of(shape, values);
    }

    private boolean fits(String name) {
        return parameters.containsKey(name)
                && tensors.containsKey(name)
                && shape(name).equals(tensors.get(name).shape())
                && !freshClasses.containsKey(name);
    }

    private Set<String> fitting() {
        return Sets.filter(tensors.keySet(), this::fits);
    }

    private Shape shape(String name) {
        return parameters.get(name).getShape();
    }

    LoadReport report() {
        ImmutableListMultimap.Builder<Status, String> names = ImmutableListMultimap.builder();
        Map<String, String> details = new LinkedHashMap<>(resized);
        details.putAll(freshClasses);
        names.putAll(Status.RESIZED, resized.keySet());
        for (String name : parameters.keySet()) {
            if (fits(name)) {
                names.put(Status.LOADED, name);
            } else if (freshClasses.containsKey(name)) {
                names.put(Status.REINITIALIZED, name);
            } else if (tensors.containsKey(name)) {
                names.put(Status.SHAPE_MISMATCH, name);
                Shape found = tensors.get(name).shape();
                details.put(name, Text.format("got %s, expected %s", found, shape(name)));
            } else {
                boolean isFresh = !name.startsWith(mapping.added()) || patterns.isFresh(name);
                names.put(isFresh ? Status.NEW : Status.MISSING, name);
            }
        }
        names.putAll(Status.IGNORED, ofOtherParts);
        for (String name : Sets.difference(tensors.keySet(), parameters.keySet())) {
            Status status = patterns.isIgnored(name) ? Status.IGNORED : Status.UNEXPECTED;
            names.put(patterns.isComputed(name) ? Status.COMPUTED : status, name);
        }
        return new LoadReport(names.build(), details, notes);
    }

    Map<String, WeightInit> values() {
        return Maps.asMap(Set.copyOf(fitting()), Stored::new);
    }

    void copy() {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Map<String, NDArray> values = new LinkedHashMap<>();
            fitting().forEach(name -> values.put(name, read(name, manager)));
            throwIfUnusable();
            values.forEach(
                    (name, array) -> MemoryFormat.copy(array, parameters.get(name).getArray()));
        }
    }

    private NDArray read(String name, NDManager manager) {
        NDArray values = tensors.get(name).array(manager);
        try (NDArray sum = values.sum()) {
            // A finite sum, which is fast to compute, has no NaN or infinite summands. Sums of
            // very large weights overflow.
            if (!Float.isFinite(sum.getFloat()) && !isFinite(values)) {
                notFinite.add(name);
            }
        }
        return values;
    }

    private static boolean isFinite(NDArray values) {
        try (NDArray magnitudes = values.abs();
                NDArray largest = magnitudes.max()) {
            return Float.isFinite(largest.getFloat());
        }
    }

    void throwIfUnusable() {
        Problems problems = new Problems();
        if (!integers.isEmpty()) {
            problems.add(
                    "got integers for %s, expected floating-point weights; use the checkpoint"
                            + " that training wrote, not a quantized one",
                    Count.first(integers, MAX_NAMES));
        }
        if (!notFinite.isEmpty()) {
            problems.add(
                    "weights of %s are NaN or infinite because training diverged or the file is"
                            + " damaged; use an earlier checkpoint",
                    Count.first(notFinite, MAX_NAMES));
        }
        problems.throwIfAny("the checkpoint cannot be used");
    }

    /** Initializes a parameter with a tensor. */
    private final class Stored implements WeightInit {

        private final String name;

        Stored(String name) {
            this.name = name;
        }

        @Override
        public void fill(float[] values, Shape shape, SplittableRandom random) {
            tensors.get(name).floats().get(values);
        }

        @Override
        public NDArray create(NDManager manager, Shape shape, SplittableRandom random) {
            return read(name, manager);
        }
    }
}

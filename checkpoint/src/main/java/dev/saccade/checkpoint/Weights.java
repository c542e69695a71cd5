package dev.saccade.checkpoint;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Maps;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import com.google.common.collect.Sets;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.checkpoint.LoadReport.Fate;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
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
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Brings the tensors of a checkpoint into a module by their names.
 *
 * <p>Names of other libraries are translated, see {@link Naming}, and prefixes such as {@code
 * backbone.} or {@code module.encoder_q.} are added or removed where more names agree that way: a
 * file of a backbone fits a detector, and the other way round. The arrays of the module stay, only
 * their values change. Nothing is changed unless all is right: integers where weights are expected,
 * and values that are not finite, are refused.
 */
public final class Weights {

    /** A checkpoint that fits less is taken for one of another model. */
    private static final double LEAST_RATIO = 0.5;

    /** With at least this ratio of equal shapes only the names are taken to differ. */
    private static final double SAME_SHAPES = 0.9;

    private static final int MAX_NAMES = 5;

    private Weights() {}

    /**
     * Puts back all values of a module, to go on training.
     *
     * @throws SaccadeException of kind user that shows the differences, if a parameter or buffer is
     *     missing in the checkpoint or of another shape
     */
    public static LoadReport restore(Checkpoint checkpoint, Module module) {
        Match match = Match.complete(checkpoint, module);
        match.copy();
        return match.report();
    }

    /**
     * Gives a module without values those of a checkpoint, to predict.
     *
     * @param manager owns the arrays and gives the device
     * @throws SaccadeException of kind user that shows the differences, if a parameter or buffer is
     *     missing in the checkpoint or of another shape
     */
    public static LoadReport restore(Checkpoint checkpoint, Module module, NDManager manager) {
        Match match = Match.complete(checkpoint, module);
        module.initialize(manager, 0, match.values());
        match.throwIfUnusable();
        return match.report();
    }

    /**
     * Sets the values that a checkpoint has, to start training from; the others stay as they are.
     *
     * <p>Tables of positions that were learned for windows or images of another size are
     * interpolated as their parts say, see {@link CheckpointRules}. A table with another number of
     * heads is not used.
     *
     * @throws SaccadeException of kind user that shows the differences, if less than half of the
     *     checkpoint finds a place
     */
    public static LoadReport initialize(Checkpoint checkpoint, Module module) {
        return initialize(checkpoint, module, ClassLayers.NONE);
    }

    /**
     * Sets the values that a checkpoint has, as {@link #initialize(Checkpoint, Module)}, and
     * matches the rows of class layers by class name.
     *
     * @param classLayers the layers that have rows for every class
     */
    public static LoadReport initialize(
            Checkpoint checkpoint, Module module, ClassLayers classLayers) {
        Match match = new Match(checkpoint, module, classLayers);
        match.fitPositions();
        match.matchClasses();
        LoadReport report = match.report();
        if (report.ratio() < LEAST_RATIO) {
            throw SaccadeException.user(
                    "the checkpoint is of another model, only %.0f %% of it fits%s: %s",
                    100 * report.ratio(), match.differsOnlyInNames(), report);
        }
        match.copy();
        return report;
    }

    /** Which tensor goes into which parameter. */
    private static final class Match {

        private final Map<String, Parameter> parameters;
        private final Map<String, Tensor> tensors = new LinkedHashMap<>();
        private final List<String> ofOtherParts = new ArrayList<>();
        private final List<LoadReport.Resized> resized = new ArrayList<>();
        private final List<String> integers = new ArrayList<>();
        private final List<String> notFinite = new ArrayList<>();
        private final ClassLayers classLayers;
        private final CheckpointRules rules = InstalledRules.all();
        private final KeyPatterns patterns = new KeyPatterns(rules);
        private final NameSearch.Mapping mapping;
        private final List<String> notes;
        private final Map<String, String> freshClasses = new LinkedHashMap<>();

        Match(Checkpoint checkpoint, Module module, ClassLayers classLayers) {
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
            Set<String> others =
                    Sets.filter(
                            checkpoint.tensors().keySet(),
                            name -> !name.startsWith(mapping.removed()));
            Checkpoint part = mapping.strip(checkpoint);
            Checkpoint named =
                    mapping.table().map(table -> Naming.toSaccade(part, table)).orElse(part);
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
            tensors.keySet().stream()
                    .filter(name -> parameters.containsKey(name))
                    .filter(name -> !tensors.get(name).type().isFloating())
                    .forEach(integers::add);
        }

        static Match complete(Checkpoint checkpoint, Module module) {
            Match match = new Match(checkpoint, module, ClassLayers.NONE);
            LoadReport report = match.report();
            if (!report.isComplete()) {
                throw SaccadeException.user("the checkpoint is not of this model: %s", report);
            }
            return match;
        }

        /** Interpolates the tables of positions that are of another size here. */
        void fitPositions() {
            for (String name : parameters.keySet()) {
                if (tensors.containsKey(name) && !fits(name)) {
                    Shape found = tensors.get(name).shape();
                    fitted(name)
                            .ifPresent(
                                    fitted -> {
                                        tensors.put(name, fitted.tensor());
                                        resized.add(
                                                new LoadReport.Resized(
                                                        name, found, shape(name), fitted.how()));
                                    });
                }
            }
        }

        /** Moves the rows of class layers to the classes of the same name. */
        void matchClasses() {
            Set<String> moved = new LinkedHashSet<>();
            Set<String> unnamed = new LinkedHashSet<>();
            boolean isNamed = false;
            for (String name : classLayers.rows().keySet()) {
                if (!tensors.containsKey(name)) {
                    continue;
                }
                ClassLayers.Plan plan =
                        classLayers.plan(
                                name,
                                tensors.get(name).shape(),
                                shape(name),
                                patterns.classRows(name));
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
                        "warning: class names of the checkpoint are unknown; check that it has the"
                                + " same classes in the same order, layers that depend on it: "
                                + String.join(", ", unnamed));
            }
        }

        /** Returns a hint if the missing parameters have the shapes of unexpected tensors. */
        String differsOnlyInNames() {
            List<String> missing =
                    parameters.keySet().stream().filter(n -> !tensors.containsKey(n)).toList();
            Multiset<Shape> shapes = HashMultiset.create();
            tensors.forEach(
                    (name, tensor) -> {
                        if (!parameters.containsKey(name)) {
                            shapes.add(tensor.shape());
                        }
                    });
            Multiset<Shape> needed = HashMultiset.create();
            missing.stream()
                    .filter(name -> name.startsWith(mapping.added()))
                    .forEach(name -> needed.add(shape(name)));
            int same = Multisets.intersection(shapes, needed).size();
            return needed.isEmpty() || same < SAME_SHAPES * needed.size()
                    ? ""
                    : "; the shapes match and only the names differ: rename the tensors to those"
                            + " that are missing";
        }

        private static String layer(String name) {
            return name.substring(0, Math.max(name.lastIndexOf('.'), 0));
        }

        /** Returns rows of the checkpoint; -1 stands for the row that the parameter has. */
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

        private Optional<PositionTables.Fitted> fitted(String name) {
            return rules.positions().stream()
                    .filter(kind -> kind.name().matches(name))
                    .findFirst()
                    .flatMap(kind -> PositionTables.fit(kind, tensors.get(name), shape(name)));
        }

        private boolean fits(String name) {
            return parameters.containsKey(name)
                    && tensors.containsKey(name)
                    && shape(name).equals(tensors.get(name).shape())
                    && !freshClasses.containsKey(name);
        }

        private Shape shape(String name) {
            return parameters.get(name).getShape();
        }

        LoadReport report() {
            ImmutableListMultimap.Builder<Fate, String> names = ImmutableListMultimap.builder();
            List<LoadReport.Remade> remade = new ArrayList<>();
            List<LoadReport.Misshaped> misshaped = new ArrayList<>();
            for (String name : parameters.keySet()) {
                if (fits(name)) {
                    names.put(Fate.LOADED, name);
                } else if (freshClasses.containsKey(name)) {
                    remade.add(new LoadReport.Remade(name, freshClasses.get(name)));
                } else if (tensors.containsKey(name)) {
                    Shape found = tensors.get(name).shape();
                    misshaped.add(new LoadReport.Misshaped(name, found, shape(name)));
                } else {
                    names.put(isFresh(name) ? Fate.FRESH : Fate.MISSING, name);
                }
            }
            names.putAll(Fate.IGNORED, ofOtherParts);
            for (String name : tensors.keySet()) {
                if (!parameters.containsKey(name)) {
                    names.put(fateOfPlaceless(name), name);
                }
            }
            return new LoadReport(names.build(), resized, remade, misshaped, notes);
        }

        private boolean isFresh(String name) {
            return !name.startsWith(mapping.added()) || patterns.isFresh(name);
        }

        private Fate fateOfPlaceless(String name) {
            if (patterns.isComputed(name)) {
                return Fate.COMPUTED;
            }
            return patterns.isIgnored(name) ? Fate.IGNORED : Fate.UNEXPECTED;
        }

        Map<String, WeightInit> values() {
            Map<String, WeightInit> values = new LinkedHashMap<>();
            for (String name : tensors.keySet()) {
                if (fits(name)) {
                    values.put(name, new Stored(name));
                }
            }
            return values;
        }

        void copy() {
            Map<String, NDArray> values = new LinkedHashMap<>();
            try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                for (String name : tensors.keySet()) {
                    if (fits(name)) {
                        values.put(name, read(name, manager));
                    }
                }
                throwIfUnusable();
                values.forEach(
                        (name, array) -> MemoryFormat.copy(array, parameters.get(name).getArray()));
            }
        }

        private NDArray read(String name, NDManager manager) {
            NDArray values = tensors.get(name).array(manager);
            try (NDArray sum = values.sum()) {
                // One that is not finite makes the sum so; no weights are so large that others do.
                if (!Float.isFinite(sum.getFloat())) {
                    notFinite.add(name);
                }
            }
            return values;
        }

        void throwIfUnusable() {
            Problems problems = new Problems();
            if (!integers.isEmpty()) {
                problems.add(
                        "weights are floating-point numbers, but integers are stored for %s; take"
                                + " the file that the training wrote",
                        some(integers));
            }
            if (!notFinite.isEmpty()) {
                problems.add(
                        "weights that are not finite are stored for %s; the training that wrote"
                                + " them diverged, or they are damaged: take an earlier checkpoint",
                        some(notFinite));
            }
            problems.throwIfAny("the checkpoint is of no use");
        }

        private static String some(List<String> names) {
            String first = String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size())));
            int more = names.size() - MAX_NAMES;
            return more > 0 ? first + " and " + more + " more" : first;
        }

        /** The values of a tensor, as those that a parameter starts with. */
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
}

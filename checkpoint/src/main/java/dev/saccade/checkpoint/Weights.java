package dev.saccade.checkpoint;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableListMultimap;

import dev.saccade.checkpoint.LoadReport.Fate;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.MemoryFormat;

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
 * <p>Names of other libraries are translated, see {@link Naming}, and a prefix such as {@code
 * backbone.} is added or taken away where more names agree that way: a file of a backbone fits a
 * detector, and the other way round. The arrays of the module stay, only their values change.
 * Nothing is changed unless all is right: integers where weights are expected, and values that are
 * not finite, are refused.
 */
public final class Weights {

    /** A checkpoint that fits less is taken for one of another model. */
    private static final double LEAST_RATIO = 0.5;

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
     * Sets the values that a checkpoint has, as {@link #initialize(Checkpoint, Module)}, but leaves
     * what is for other classes.
     *
     * @param classLayers the layers that have rows for every class
     */
    public static LoadReport initialize(
            Checkpoint checkpoint, Module module, ClassLayers classLayers) {
        Match match = new Match(checkpoint, module, classLayers);
        match.fitPositions();
        LoadReport report = match.report();
        if (report.ratio() < LEAST_RATIO) {
            throw SaccadeException.user(
                    "the checkpoint is of another model, only %.0f %% of it fits: %s",
                    100 * report.ratio(), report);
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
        private final Renaming renaming;

        Match(Checkpoint checkpoint, Module module, ClassLayers classLayers) {
            this.classLayers = classLayers;
            this.parameters = module.namedParameters();
            // Names that are all here need no translation, whatever they look like.
            boolean isOurs = checkpoint.tensors().keySet().containsAll(parameters.keySet());
            Checkpoint named = isOurs ? checkpoint : Naming.toSaccade(checkpoint, rules);
            this.renaming = Renaming.best(named.tensors().keySet(), parameters.keySet());
            named.tensors()
                    .forEach(
                            (name, tensor) -> {
                                if (renaming.isOfOtherPart(name)) {
                                    ofOtherParts.add(name);
                                } else {
                                    Checkpoint.putNew(tensors, renaming.apply(name), tensor);
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
                    && ofOtherClasses(name).isEmpty();
        }

        private Optional<String> ofOtherClasses(String name) {
            return tensors.containsKey(name)
                    ? classLayers.mismatch(name, tensors.get(name).shape(), shape(name))
                    : Optional.empty();
        }

        private Shape shape(String name) {
            return parameters.get(name).getShape();
        }

        LoadReport report() {
            ImmutableListMultimap.Builder<Fate, String> names = ImmutableListMultimap.builder();
            List<LoadReport.Remade> remade = new ArrayList<>();
            List<LoadReport.Misshaped> misshaped = new ArrayList<>();
            for (String name : parameters.keySet()) {
                Optional<String> otherClasses = ofOtherClasses(name);
                if (fits(name)) {
                    names.put(Fate.LOADED, name);
                } else if (otherClasses.isPresent()) {
                    remade.add(new LoadReport.Remade(name, otherClasses.get()));
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
            return new LoadReport(names.build(), resized, remade, misshaped);
        }

        private boolean isFresh(String name) {
            return !name.startsWith(renaming.added) || patterns.isFresh(name);
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

    /**
     * A prefix taken from all names that have it, so that those without are of other parts, or one
     * added to all; names that would not be found either way keep their own.
     */
    private record Renaming(String removed, String added, Set<String> known) {

        static Renaming best(Set<String> names, Set<String> known) {
            Renaming best = new Renaming("", "", known);
            List<Renaming> others = new ArrayList<>();
            prefixes(known).forEach(prefix -> others.add(new Renaming("", prefix, known)));
            prefixes(names).forEach(prefix -> others.add(new Renaming(prefix, "", known)));
            for (Renaming other : others) {
                if (other.found(names) > best.found(names)) {
                    best = other;
                }
            }
            return best;
        }

        private static Set<String> prefixes(Set<String> names) {
            Set<String> prefixes = new LinkedHashSet<>();
            names.forEach(name -> prefixes.add(name.substring(0, name.indexOf('.') + 1)));
            prefixes.remove("");
            return prefixes;
        }

        private long found(Set<String> names) {
            return names.stream().filter(name -> known.contains(renamed(name))).count();
        }

        private String renamed(String name) {
            return name.startsWith(removed) ? added + name.substring(removed.length()) : name;
        }

        boolean isOfOtherPart(String name) {
            return !name.startsWith(removed) && !known.contains(name);
        }

        String apply(String name) {
            return known.contains(renamed(name)) ? renamed(name) : name;
        }
    }
}

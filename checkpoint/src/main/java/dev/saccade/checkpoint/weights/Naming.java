package dev.saccade.checkpoint.weights;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.Maps;
import com.google.common.collect.MultimapBuilder;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.IndexTable.Parameter;
import dev.saccade.core.conversion.NameTable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Naming scheme of checkpoint tensors.
 *
 * <p>Saccade uses the official names of each backbone and mmdetection's names for other components.
 * Components define the names of other libraries.
 */
public final class Naming {

    private static final String OFFICIAL = "official";

    private static final String OFFICIAL_ONES =
            "official (names of the backbone's official code, and of mmdetection for other"
                    + " components)";

    private final String library;
    private final CheckpointRules rules;

    private Naming(String library, CheckpointRules rules) {
        this.library = library;
        this.rules = rules;
    }

    /**
     * Returns the naming of a library, one of {@link #libraries()}, case-insensitively.
     *
     * @throws SaccadeException of kind user, if the library is unknown
     */
    public static Naming of(String library) {
        String name = library.toLowerCase(Locale.ROOT);
        if (!libraries().contains(name)) {
            throw SaccadeException.user(
                    "names: got %s, expected one of %s; %s", library, libraries(), OFFICIAL_ONES);
        }
        return new Naming(name, InstalledRules.all());
    }

    /** Returns the supported libraries, such as {@code timm}, and {@code official}. */
    public static List<String> libraries() {
        Stream<String> others = InstalledRules.all().names().stream().map(NameTable::library);
        return Stream.concat(Stream.of(OFFICIAL), others.sorted()).distinct().toList();
    }

    /** Converts a checkpoint to Saccade's names; throws if two tensors get the same name. */
    public static Checkpoint toSaccade(Checkpoint checkpoint) {
        return toSaccade(checkpoint, InstalledRules.all());
    }

    static Checkpoint toSaccade(Checkpoint checkpoint, CheckpointRules rules) {
        return NameSearch.table(checkpoint.tensors().keySet(), rules)
                .map(found -> toSaccade(found.strip(checkpoint), found.table().orElseThrow()))
                .orElse(checkpoint);
    }

    static Checkpoint toSaccade(Checkpoint checkpoint, NameTable theirs) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        ListMultimap<String, Piece> pieces =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
            NameTable.Renamed ours = theirs.toOurs(entry.getKey());
            Tensor reordered = reordered(entry.getKey(), entry.getValue(), ours);
            if (ours.slice().isPresent()) {
                Piece piece = new Piece(entry.getKey(), reordered, ours.slice().get());
                pieces.put(ours.name(), piece);
            } else {
                Checkpoint.putNew(tensors, ours.name(), reordered);
            }
        }
        for (String name : pieces.keySet()) {
            Checkpoint.putNew(tensors, name, joined(name, pieces.get(name)));
        }
        return checkpoint.with(tensors);
    }

    /** A slice along the first axis, such as the query of a QKV weight. */
    private record Piece(String name, Tensor tensor, NameTable.Slice part) {}

    private static Tensor joined(String name, List<Piece> pieces) {
        List<Tensor> tensors =
                pieces.stream()
                        .sorted(Comparator.comparingInt(piece -> piece.part.index()))
                        .map(Piece::tensor)
                        .toList();
        Tensor first = tensors.get(0);
        Shape shape = first.shape();
        int count = pieces.get(0).part.count();
        boolean isWhole = tensors.size() == count && shape.dimension() > 0;
        boolean isEqual =
                tensors.stream().allMatch(t -> t.shape().equals(shape) && t.type() == first.type());
        if (!isWhole || !isEqual) {
            throw SaccadeException.user(
                    "%s: expected %d tensors of equal shape to concatenate, got %s of shapes %s",
                    name,
                    count,
                    pieces.stream().map(Piece::name).toList(),
                    tensors.stream().map(Tensor::shape).toList());
        }
        long[] sizes = shape.getShape().clone();
        sizes[0] = Math.multiplyExact(sizes[0], count);
        ByteBuffer bytes =
                ByteBuffer.allocate(Math.toIntExact(Math.multiplyExact(first.length(), count)));
        tensors.forEach(tensor -> bytes.put(tensor.data()));
        return new Tensor(first.type(), new Shape(sizes), bytes.flip());
    }

    /**
     * Converts a checkpoint from Saccade's names to this library's names; adds the index tables
     * that the Python classes store.
     *
     * @throws SaccadeException of kind user, if the library has no names for the model
     */
    public Checkpoint fromSaccade(Checkpoint checkpoint) {
        Checkpoint whole = withIndexTables(checkpoint);
        if (library.equals(OFFICIAL)) {
            return whole;
        }
        NameTable table =
                rules.names().stream()
                        .filter(each -> each.library().equals(library))
                        .filter(each -> each.isOurs(checkpoint.tensors().keySet()))
                        .findFirst()
                        .orElseThrow(this::noNames);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Tensor> entry : whole.tensors().entrySet()) {
            for (NameTable.Renamed theirs : table.toTheirs(entry.getKey())) {
                tensors.put(theirs.name(), reordered(entry.getKey(), entry.getValue(), theirs));
            }
        }
        return checkpoint.with(tensors);
    }

    private Checkpoint withIndexTables(Checkpoint checkpoint) {
        Map<String, Shape> shapes = Maps.transformValues(checkpoint.tensors(), Tensor::shape);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
            tensors.put(entry.getKey(), entry.getValue());
            rules.indexes().forEach(table -> addIndexTable(entry.getKey(), shapes, table, tensors));
        }
        return new Checkpoint(tensors, checkpoint.metadata());
    }

    private static void addIndexTable(
            String name, Map<String, Shape> shapes, IndexTable table, Map<String, Tensor> tensors) {
        Optional<Map<String, String>> places = table.parameter().read(name);
        if (places.isPresent()) {
            table.values()
                    .apply(new Parameter(shapes.get(name), places.get(), shapes))
                    .map(Naming::tensor)
                    .ifPresent(tensor -> tensors.put(table.name().write(places.get()), tensor));
        }
    }

    private static Tensor tensor(IndexTable.Values values) {
        ImmutableLongArray elements = values.elements();
        ByteBuffer bytes =
                ByteBuffer.allocate(elements.length() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        elements.forEach(bytes::putLong);
        return new Tensor(ElementType.INT64, values.shape(), bytes.flip());
    }

    private SaccadeException noNames() {
        return SaccadeException.user(
                "%s has no names for this model; expected %s", library, OFFICIAL_ONES);
    }

    private static Tensor reordered(String name, Tensor tensor, NameTable.Renamed renamed) {
        if (renamed.reorder().isEmpty()) {
            return tensor;
        }
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDArray places =
                    manager.arange(Math.toIntExact(tensor.elements())).reshape(tensor.shape());
            NDArray sources = renamed.reorder().get().apply(places);
            return tensor.gather(sources.getShape(), sources.toIntArray());
        } catch (EngineException | IllegalArgumentException e) {
            throw SaccadeException.user(
                    e,
                    "%s: shape %s cannot be reordered to %s",
                    name,
                    tensor.shape(),
                    renamed.name());
        }
    }

    @Override
    public String toString() {
        return library;
    }
}

package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.pytorch.Pickle.Tuple;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Content of a PyTorch file; tensors are not read yet.
 *
 * @param root the argument of {@code torch.save}
 * @param storages location of each storage by key
 */
record TorchContent(Object root, Map<String, StoredZip.Entry> storages) {

    private static final String PICKLE = "data.pkl";

    /** Larger than any pickle without NumPy arrays. */
    private static final int MAX_PICKLE = 1 << 26;

    /** Limit for pickles with NumPy arrays. */
    private static final int MAX_ARRAYS = 1 << 30;

    /** Larger than the pickle of {@link #LEGACY_MAGIC} in any protocol. */
    private static final int MAGIC_PICKLE = 64;

    private static final BigInteger LEGACY_MAGIC = new BigInteger("1950a86a20f9469cfc6c", 16);
    private static final long LEGACY_PROTOCOL = 1001;

    /** Reads the zip format of PyTorch 1.6 and later. */
    static TorchContent ofZip(CheckpointFile file) {
        Map<String, StoredZip.Entry> entries = StoredZip.read(file);
        List<String> pickles =
                entries.keySet().stream()
                        .filter(name -> name.equals(PICKLE) || name.endsWith("/" + PICKLE))
                        .toList();
        if (pickles.size() != 1) {
            throw new MalformedException("not a PyTorch checkpoint: the zip file has no data.pkl");
        }
        String folder = pickles.get(0).substring(0, pickles.get(0).length() - PICKLE.length());
        if (entries.keySet().stream().anyMatch(name -> name.startsWith(folder + "code/"))) {
            throw new MalformedException(
                    "rejected: a TorchScript archive contains code; in Python, save only the"
                            + " tensors with torch.save(torch.jit.load(file).state_dict(), ...)");
        }
        StoredZip.Entry order = entries.get(folder + "byteorder");
        if (order != null && file.header(order.begin(1), 1).get() != 'l') {
            throw new MalformedException("big-endian files are not supported");
        }
        StoredZip.Entry pickle = entries.get(pickles.get(0));
        long size = pickle.size();
        if (size > MAX_ARRAYS) {
            throw new MalformedException(
                    "its pickle has %s bytes, expected at most %s; save tensors instead of NumPy"
                            + " arrays",
                    size, MAX_ARRAYS);
        }
        Object root = Pickle.read(file.header(pickle.begin(size), size), TorchContent::storage);
        String data = folder + "data/";
        Map<String, StoredZip.Entry> storages = new HashMap<>();
        entries.forEach(
                (name, entry) -> {
                    if (name.startsWith(data)) {
                        storages.put(name.substring(data.length()), entry);
                    }
                });
        return new TorchContent(root, storages);
    }

    /** Returns the offset of a storage in the file. */
    long place(TorchStorage storage) {
        StoredZip.Entry entry = storages.get(storage.key());
        if (entry == null) {
            throw new MalformedException("damaged: storage %s is missing", storage.key());
        }
        return entry.begin(storage.bytes());
    }

    /** Reads the format before PyTorch 1.6, or a pickled dict of NumPy arrays. */
    static TorchContent ofPickle(CheckpointFile file) {
        if (isLegacy(file)) {
            return ofLegacy(file);
        }
        ByteBuffer in = file.header(0, file.size());
        Object root = Pickle.read(in, id -> storage(new Tuple(List.of())));
        return new TorchContent(root, Map.of());
    }

    private static boolean isLegacy(CheckpointFile file) {
        try {
            ByteBuffer start = file.header(0, Math.min(file.size(), MAGIC_PICKLE));
            return LEGACY_MAGIC.equals(Pickle.read(start, TorchContent::storage));
        } catch (MalformedException e) {
            return false;
        }
    }

    /** Reads pickles followed by storages. */
    private static TorchContent ofLegacy(CheckpointFile file) {
        Map<String, TorchStorage> storages = new HashMap<>();
        ByteBuffer in = file.header(0, Math.min(file.size(), MAX_PICKLE));
        Object[] pickles = new Object[5];
        for (int i = 0; i < pickles.length; i++) {
            pickles[i] = Pickle.read(in, id -> registered(storage(id), storages));
        }
        boolean isBigEndian =
                pickles[2] instanceof Map<?, ?> system
                        && Boolean.FALSE.equals(system.get("little_endian"));
        if (!pickles[1].equals(LEGACY_PROTOCOL) || isBigEndian) {
            throw new MalformedException(
                    "unsupported protocol or byte order of a legacy PyTorch" + " checkpoint");
        }
        if (!(pickles[4] instanceof List<?> keys)) {
            throw new MalformedException("damaged: the list of storages is missing");
        }
        Map<String, StoredZip.Entry> places = new HashMap<>();
        long position = in.position();
        for (Object key : keys) {
            TorchStorage storage = key instanceof String name ? storages.get(name) : null;
            if (storage == null
                    || file.header(position, Long.BYTES).getLong() != storage.elements()) {
                throw new MalformedException("damaged: a storage differs from its description");
            }
            position += Long.BYTES;
            String name = storage.key();
            places.put(name, new StoredZip.Entry(name, position, storage.bytes(), true));
            position += storage.bytes();
        }
        return new TorchContent(pickles[3], places);
    }

    private static TorchStorage registered(
            TorchStorage storage, Map<String, TorchStorage> storages) {
        TorchStorage other = storages.putIfAbsent(storage.key(), storage);
        if (other != null && !other.equals(storage)) {
            throw new MalformedException("damaged: storage %s has two descriptions", storage.key());
        }
        return storage;
    }

    /** Parses {@code ("storage", torch.FloatStorage, key, location, elements)}. */
    private static TorchStorage storage(Tuple id) {
        List<Object> items = id.items();
        if (items.size() >= 5
                && items.get(0).equals("storage")
                && items.get(1) instanceof Pickle.Global kind
                && items.get(2) instanceof String key
                && items.get(4) instanceof Long elements
                && elements >= 0
                && (items.size() == 5 || items.get(5) == Pickle.NONE)) {
            return new TorchStorage(ElementType.ofTorchStorage(kind.name()), key, elements);
        }
        throw new MalformedException(
                "rejected: it contains objects other than tensors, such as a whole module; in"
                        + " Python, save only the tensors with torch.save(model.state_dict(),"
                        + " ...)");
    }
}

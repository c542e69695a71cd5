package dev.saccade.train.checkpoint;

import com.fasterxml.jackson.databind.json.JsonMapper;

import dev.saccade.core.distributed.ProcessGroup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Exchanges records between ranks as JSON. All ranks must call each method. */
public final class RankMessages {

    private static final JsonMapper JSON = new JsonMapper();

    private RankMessages() {}

    /** Returns the messages of all ranks, by rank. */
    public static <T> List<T> allGather(ProcessGroup ranks, Class<T> type, T message) {
        return ranks.worldSize() == 1
                ? List.of(message)
                : ranks.allGather(write(message)).stream().map(each -> read(type, each)).toList();
    }

    /** Returns the message of rank 0; the messages of other ranks are ignored. */
    public static <T> T broadcast(ProcessGroup ranks, Class<T> type, T message) {
        return ranks.worldSize() == 1 ? message : read(type, ranks.broadcast(write(message), 0));
    }

    private static byte[] write(Object message) {
        try {
            return JSON.writeValueAsBytes(message);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> T read(Class<T> type, byte[] bytes) {
        try {
            return JSON.readValue(bytes, type);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

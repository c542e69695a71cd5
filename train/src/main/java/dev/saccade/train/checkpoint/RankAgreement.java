package dev.saccade.train.checkpoint;

import dev.saccade.core.Problems;
import dev.saccade.core.Version;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Checks that all ranks have the config, data and Saccade version of rank 0. */
public final class RankAgreement {

    private record Settings(Map<String, String> values) {}

    private RankAgreement() {}

    /** Rejects and lists differences from rank 0. All ranks must call this method. */
    public static void require(
            ProcessGroup ranks,
            RunConfig config,
            Map<String, String> identity,
            Optional<Dataset> val) {
        if (ranks.worldSize() == 1) {
            return;
        }
        Map<String, String> own = new TreeMap<>(ConfigChange.common(config));
        own.put("training data", identity.get("run.data"));
        own.put("data.val", val.map(RunIdentity::fingerprint).orElse("unset"));
        own.put("Saccade version", Version.saccade());
        Map<String, String> first =
                RankMessages.broadcast(ranks, Settings.class, new Settings(own)).values;
        TreeSet<String> keys = new TreeSet<>(own.keySet());
        keys.addAll(first.keySet());
        Problems problems = new Problems();
        for (String key : keys) {
            String here = own.getOrDefault(key, "unset");
            String there = first.getOrDefault(key, "unset");
            if (!here.equals(there)) {
                problems.add("%s: is %s on rank %d, %s on rank 0", key, here, ranks.rank(), there);
            }
        }
        problems.throwIfAny("all ranks need the same config, data and Saccade version");
    }
}

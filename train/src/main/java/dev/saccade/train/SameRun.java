package dev.saccade.train;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Version;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Holds all ranks to the config, the data and the Saccade of rank 0. */
final class SameRun {

    private final ProcessGroup ranks;

    SameRun(ProcessGroup ranks) {
        this.ranks = ranks;
    }

    /**
     * Refuses to be one of ranks that would train something else.
     *
     * @param identity what tells the run from others
     * @param val what is measured on
     * @throws SaccadeException of kind user that lists what is not as it is on rank 0
     */
    void require(RunConfig config, Map<String, String> identity, Optional<Dataset> val) {
        if (ranks.worldSize() == 1) {
            return;
        }
        Map<String, String> own = new TreeMap<>(ConfigChange.common(config));
        own.put("the training data", identity.get("run.data"));
        own.put("data.val", val.map(DatasetFingerprint::compute).orElse("nothing"));
        own.put("the version of Saccade", Version.saccade());
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        MapBytes.write(own, out, ByteArrayDataOutput::writeUTF);
        byte[] told = ranks.broadcast(out.toByteArray(), 0);
        Map<String, String> first =
                MapBytes.read(ByteStreams.newDataInput(told), ByteArrayDataInput::readUTF);
        TreeSet<String> keys = new TreeSet<>(own.keySet());
        keys.addAll(first.keySet());
        Problems problems = new Problems();
        for (String key : keys) {
            String here = own.getOrDefault(key, "nothing");
            String there = first.getOrDefault(key, "nothing");
            if (!here.equals(there)) {
                problems.add("%s: is %s on rank %d, %s on rank 0", key, here, ranks.rank(), there);
            }
        }
        problems.throwIfAny("all ranks must train the same");
    }
}

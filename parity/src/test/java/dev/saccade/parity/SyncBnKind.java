package dev.saccade.parity;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.Rendezvous;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.ops.script.Kernels;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Batches normalized together by several ranks, each a thread. */
final class SyncBnKind implements Kind {

    private static final List<String> PARAMETERS = List.of("weight", "bias");
    private static final List<String> STATISTICS = List.of("running_mean", "running_var");

    @Override
    public void run(Case recorded) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        recorded.settings().describes("shape", "grad_tolerance");
        recorded.config().only("eps", 1e-5);
        recorded.config().only("momentum", 0.1);
        List<Integer> split = recorded.settings().integers("split");
        List<Rank> ranks = new ArrayList<>();
        int first = 0;
        for (int images : split) {
            ranks.add(new Rank(recorded, first, first + images));
            first += images;
        }
        together(ranks);
        for (int step = 1; step <= recorded.settings().integer("steps"); step++) {
            compare(recorded, ranks, step);
        }
        NDArray output = ranks.get(0).inference(recorded.tensor("x1"));
        recorded.compare("out_eval", output, stated(recorded, "tolerance"));
    }

    private static Tolerance stated(Case recorded, String key) {
        return Tolerance.parse(recorded.settings().text(key));
    }

    private static void compare(Case recorded, List<Rank> ranks, int step) {
        Tolerance stated = stated(recorded, "tolerance");
        Tolerance ofGradients = stated(recorded, "grad_tolerance");
        recorded.compare("out" + step, joined(ranks, "out" + step), stated);
        recorded.compare("grad_x" + step, joined(ranks, "grad_x" + step), ofGradients);
        for (String parameter : PARAMETERS) {
            String name = "grad_" + parameter + step;
            NDList shares = found(ranks, name);
            recorded.compare(name, NDArrays.add(shares.toArray(NDArray[]::new)), ofGradients);
            for (int rank = 0; rank < shares.size(); rank++) {
                recorded.compare(name + "_rank" + rank, shares.get(rank), ofGradients);
            }
        }
        for (String statistic : STATISTICS) {
            for (NDArray ofRank : found(ranks, statistic + step)) {
                recorded.compare(statistic + step, ofRank, stated);
            }
        }
    }

    private static NDList found(List<Rank> ranks, String name) {
        NDList found = new NDList();
        ranks.forEach(rank -> found.add(rank.found.get(name)));
        return found;
    }

    private static NDArray joined(List<Rank> ranks, String name) {
        return NDArrays.concat(found(ranks, name));
    }

    private static void together(List<Rank> ranks) {
        int port = Rendezvous.freePort();
        ExecutorService threads = Executors.newFixedThreadPool(ranks.size());
        try {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int rank = 0; rank < ranks.size(); rank++) {
                Rendezvous at =
                        new Rendezvous(
                                "127.0.0.1", port, rank, ranks.size(), 0, Duration.ofSeconds(30));
                Rank work = ranks.get(rank);
                all.add(CompletableFuture.runAsync(() -> work.join(at), threads));
            }
            all.forEach(CompletableFuture::join);
        } finally {
            threads.shutdownNow();
        }
    }

    /** The normalization, batches and results of a rank. */
    private static final class Rank {

        private final BatchNorm2d norm;
        private final List<NDArray> batches = new ArrayList<>();
        private final List<NDArray> cotangents = new ArrayList<>();
        private final Map<String, NDArray> found = new LinkedHashMap<>();

        /** Uses the images {@code from} to {@code to}. */
        Rank(Case recorded, int from, int to) {
            norm =
                    new BatchNorm2d(
                            recorded.config().integer("num_features"), BatchNormType.SYNC_BN);
            norm.initialize(recorded.manager(), 0);
            PARAMETERS.forEach(name -> recorded.tensor(name).copyTo(array(name)));
            STATISTICS.forEach(name -> recorded.tensor(name + "0").copyTo(array(name)));
            for (int step = 1; step <= recorded.settings().integer("steps"); step++) {
                batches.add(recorded.tensor("x" + step).get("{}:{}", from, to));
                cotangents.add(recorded.tensor("ct" + step).get("{}:{}", from, to));
            }
        }

        private NDArray array(String name) {
            return norm.namedParameters().get(name).getArray();
        }

        void join(Rendezvous at) {
            try (ProcessGroup group = ProcessGroup.join(at)) {
                for (int step = 1; step <= batches.size(); step++) {
                    int number = step;
                    ProcessGroup.with(group, () -> train(number));
                }
            }
        }

        private Void train(int step) {
            NDArray x = batches.get(step - 1);
            x.setRequiresGradient(true);
            NDList gradients =
                    Autograd.gradients(
                            () -> {
                                NDArray out = norm.apply(x);
                                found.put("out" + step, out.duplicate());
                                return out.mul(cotangents.get(step - 1)).sum();
                            },
                            List.of(x, array("weight"), array("bias")));
            found.put("grad_x" + step, gradients.get(0));
            found.put("grad_weight" + step, gradients.get(1));
            found.put("grad_bias" + step, gradients.get(2));
            STATISTICS.forEach(name -> found.put(name + step, array(name).duplicate()));
            return null;
        }

        NDArray inference(NDArray x) {
            norm.train(false);
            return norm.apply(x);
        }
    }
}

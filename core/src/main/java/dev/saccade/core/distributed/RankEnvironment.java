package dev.saccade.core.distributed;

import com.google.common.primitives.Ints;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Reads rank, world size and master address from the environment variables of torchrun, Open MPI's
 * mpirun or Slurm's srun. Empty variables count as unset.
 */
public final class RankEnvironment {

    /** Torchrun's variable for the rank. */
    public static final String RANK = "RANK";

    /** Torchrun's variable for the number of ranks on all machines. */
    public static final String WORLD_SIZE = "WORLD_SIZE";

    private static final String LOCAL_RANK = "LOCAL_RANK";
    private static final String LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE";
    private static final String MASTER_ADDR = "MASTER_ADDR";
    private static final String MASTER_PORT = "MASTER_PORT";

    /** Torchrun's default. */
    private static final int DEFAULT_PORT = 29_500;

    private static final int LAST_PORT = (1 << 16) - 1;
    private static final int MAX_RANKS = 100_000;

    /** The first host of a comma-separated list with ranges in brackets. */
    private static final Pattern FIRST_HOST =
            Pattern.compile("((?:[^,\\[\\]\\s]|\\[\\d+[\\d,-]*\\])+)(?:,.*)?");

    private static final Pattern RANGES = Pattern.compile("\\[(\\d+)[\\d,-]*\\]");

    private record Launcher(String command, String rank, String worldSize, String localRank) {}

    private static final Launcher TORCHRUN = new Launcher("torchrun", RANK, WORLD_SIZE, LOCAL_RANK);

    private static final Launcher SLURM =
            new Launcher("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID");

    /** By precedence: mpirun may start ranks through srun, whose variables they inherit. */
    private static final List<Launcher> LAUNCHERS =
            List.of(
                    TORCHRUN,
                    new Launcher(
                            "mpirun",
                            "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK"),
                    SLURM);

    /** Placeholder timeout, which is not passed to the ranks started on this machine. */
    private static final Duration ANY = Duration.ofSeconds(1);

    private final Map<String, String> variables;
    private final Problems problems = new Problems();

    private RankEnvironment(Map<String, String> variables) {
        this.variables = variables;
    }

    /**
     * Returns the rendezvous of this process; empty for a single process. Throws a user error that
     * lists all missing, malformed and contradictory variables.
     */
    public static Optional<Rendezvous> rendezvous(
            Map<String, String> environment, Duration timeout) {
        return new RankEnvironment(environment).find(timeout);
    }

    /**
     * Returns torchrun's variables for each rank to be started on this machine. If the environment
     * already defines a rank, it is the index of this machine, and each machine starts {@code
     * count} ranks: some clouds and {@code srun --ntasks-per-node=1} define one rank per machine.
     * Throws a user error if this process is already one of several ranks on its machine.
     */
    public static List<Map<String, String>> localRanks(Map<String, String> environment, int count) {
        RankEnvironment here = new RankEnvironment(environment);
        if (here.has(LOCAL_RANK)) {
            throw startedTwice(LOCAL_RANK);
        }
        Optional<Rendezvous> machine = here.find(ANY);
        if (machine.isPresent() && machine.get().localRank() > 0) {
            throw startedTwice(here.launcher().orElseThrow().localRank);
        }
        Rendezvous at =
                machine.orElseGet(
                        () -> new Rendezvous("127.0.0.1", Rendezvous.freePort(), 0, 1, 0, ANY));
        return IntStream.range(0, count)
                .<Map<String, String>>mapToObj(
                        local ->
                                Map.of(
                                        RANK, Integer.toString(at.rank() * count + local),
                                        WORLD_SIZE, Integer.toString(at.worldSize() * count),
                                        LOCAL_RANK, Integer.toString(local),
                                        LOCAL_WORLD_SIZE, Integer.toString(count),
                                        MASTER_ADDR, at.masterAddress(),
                                        MASTER_PORT, Integer.toString(at.masterPort())))
                .toList();
    }

    private static SaccadeException startedTwice(String variable) {
        return SaccadeException.user(
                        "%s is set: this process is already one of several on its machine; do"
                                + " not start ranks from it, or start one process per machine",
                        variable)
                .withSettings("nproc");
    }

    private Optional<Rendezvous> find(Duration timeout) {
        Optional<Launcher> found = launcher();
        if (found.isEmpty()) {
            return Optional.empty();
        }
        Launcher launcher = found.get();
        String sizeName = sizeName(launcher);
        OptionalInt size = number(sizeName, "the number of ranks", 1, MAX_RANKS);
        int worldSize = size.orElse(MAX_RANKS);
        requireSame(WORLD_SIZE, sizeName);
        boolean alone = worldSize == 1 && !has(launcher.rank);
        OptionalInt rank =
                alone ? OptionalInt.of(0) : number(launcher.rank, "the rank", 0, worldSize - 1);
        int localRank = localRank(launcher, rank.orElse(worldSize - 1));
        int port =
                worldSize > 1 && has(MASTER_PORT)
                        ? number(MASTER_PORT, "the port of rank 0", 1, LAST_PORT).orElse(1)
                        : DEFAULT_PORT;
        Optional<String> host = worldSize == 1 ? Optional.empty() : host(launcher);
        problems.throwIfAny("rank variables set by " + launcher.command);
        return host.map(
                address ->
                        new Rendezvous(
                                address, port, rank.getAsInt(), worldSize, localRank, timeout));
    }

    private Optional<Launcher> launcher() {
        // The shell of a Slurm allocation is not a rank.
        return LAUNCHERS.stream()
                .filter(launcher -> has(launcher.rank))
                .filter(launcher -> !launcher.equals(SLURM) || has("SLURM_STEP_ID"))
                .findFirst()
                .or(
                        () ->
                                has(WORLD_SIZE) || has(LOCAL_RANK)
                                        ? Optional.of(TORCHRUN)
                                        : Optional.empty());
    }

    private String sizeName(Launcher launcher) {
        // SLURM_NTASKS may be the number of tasks of the allocation instead of the step.
        String ofStep = "SLURM_STEP_NUM_TASKS";
        return launcher.equals(SLURM) && has(ofStep) ? ofStep : launcher.worldSize;
    }

    private int localRank(Launcher launcher, int rank) {
        // With one GPU per task, Slurm shows each task only its GPU, as index 0.
        boolean ownGpu =
                launcher.equals(SLURM)
                        && variable("SLURM_GPUS_PER_TASK").filter("1"::equals).isPresent();
        return has(launcher.localRank) && !ownGpu
                ? number(launcher.localRank, "the local rank", 0, rank).orElse(0)
                : 0;
    }

    private Optional<String> host(Launcher launcher) {
        Optional<String> address = variable(MASTER_ADDR);
        if (address.isEmpty() && launcher.equals(SLURM)) {
            return firstHost();
        }
        if (address.isEmpty()) {
            problems.add("%s is not set, expected the host of rank 0", MASTER_ADDR);
        }
        return address;
    }

    private Optional<String> firstHost() {
        Optional<String> name =
                Stream.of("SLURM_STEP_NODELIST", "SLURM_NODELIST").filter(this::has).findFirst();
        if (name.isEmpty()) {
            problems.add(
                    "neither %s nor SLURM_STEP_NODELIST is set, expected the host of rank 0",
                    MASTER_ADDR);
            return Optional.empty();
        }
        String list = variables.get(name.get()).strip();
        Matcher first = FIRST_HOST.matcher(list);
        if (!first.matches()) {
            problems.add("%s: got %s, expected hosts such as node[03-05,7]", name.get(), list);
            return Optional.empty();
        }
        return Optional.of(RANGES.matcher(first.group(1)).replaceAll("$1"));
    }

    private void requireSame(String name, String other) {
        Optional<String> value = variable(name);
        if (value.isPresent() && !value.equals(variable(other))) {
            problems.add(
                    "%s is %s, but %s is %s; unset one of the two",
                    name, value.get(), other, variable(other).orElse("not set"));
        }
    }

    private OptionalInt number(String name, String meaning, int least, int most) {
        Optional<String> text = variable(name);
        if (text.isEmpty()) {
            problems.add("%s is not set, expected %s", name, meaning);
            return OptionalInt.empty();
        }
        Integer number = Ints.tryParse(text.get());
        if (number == null || number < least || number > most) {
            problems.add(
                    "%s: got %s, expected %s, a number from %s to %s",
                    name, text.get(), meaning, least, most);
            return OptionalInt.empty();
        }
        return OptionalInt.of(number);
    }

    private boolean has(String name) {
        return variable(name).isPresent();
    }

    private Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name))
                .map(String::strip)
                .filter(value -> !value.isEmpty());
    }
}

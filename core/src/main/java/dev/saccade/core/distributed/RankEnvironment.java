package dev.saccade.core.distributed;

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
 * What the environment of a process says about ranks: which one it is, and where all meet, by the
 * variables of torchrun (which Kubeflow sets, too), of Open MPI's mpirun, or of Slurm's srun.
 *
 * <p>Variables that are empty count as not set. All that is wrong with them is told together.
 */
public final class RankEnvironment {

    /** Torchrun's variable for which rank a process is. */
    public static final String RANK = "RANK";

    /** Torchrun's variable for how many ranks there are, on all machines. */
    public static final String WORLD_SIZE = "WORLD_SIZE";

    private static final String LOCAL_RANK = "LOCAL_RANK";
    private static final String LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE";
    private static final String MASTER_ADDR = "MASTER_ADDR";
    private static final String MASTER_PORT = "MASTER_PORT";

    /** That of torchrun. */
    private static final int DEFAULT_PORT = 29_500;

    private static final int LAST_PORT = (1 << 16) - 1;
    private static final int MOST_RANKS = 100_000;

    private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

    /** The first of hosts that are parted by commas, which ranges in brackets have inside. */
    private static final Pattern FIRST_HOST =
            Pattern.compile("((?:[^,\\[\\]\\s]|\\[\\d+[\\d,-]*\\])+)(?:,.*)?");

    private static final Pattern RANGES = Pattern.compile("\\[(\\d+)[\\d,-]*\\]");

    /** Who has started a process, and how its variables are called. */
    private enum Starter {
        TORCHRUN("torchrun", RANK, WORLD_SIZE, LOCAL_RANK),
        OPEN_MPI(
                "mpirun",
                "OMPI_COMM_WORLD_RANK",
                "OMPI_COMM_WORLD_SIZE",
                "OMPI_COMM_WORLD_LOCAL_RANK"),
        SLURM("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID");

        private final String command;
        private final String rank;
        private final String worldSize;
        private final String localRank;

        Starter(String command, String rank, String worldSize, String localRank) {
            this.command = command;
            this.rank = rank;
            this.worldSize = worldSize;
            this.localRank = localRank;
        }
    }

    /** Where ranks meet. */
    private record Master(String address, int port) {}

    /** One of several. */
    private record Place(int rank, int worldSize, int localRank, Master master) {}

    private final Map<String, String> variables;
    private final Problems problems = new Problems();

    private RankEnvironment(Map<String, String> variables) {
        this.variables = variables;
    }

    /**
     * Returns where this process meets the others; nothing if it is alone.
     *
     * @param environment as {@link System#getenv()} has it
     * @param timeout how long ranks wait for one another
     * @throws SaccadeException of kind user that lists the variables that are missing, are no
     *     numbers or contradict one another
     */
    public static Optional<Rendezvous> rendezvous(
            Map<String, String> environment, Duration timeout) {
        return new RankEnvironment(environment)
                .find()
                .map(
                        place ->
                                new Rendezvous(
                                        place.master.address,
                                        place.master.port,
                                        place.rank,
                                        place.worldSize,
                                        place.localRank,
                                        timeout));
    }

    /**
     * Returns the variables, torchrun's, of each rank that is to be started on this machine. If the
     * environment tells of ranks, they are taken for machines, each of which starts as many: some
     * clouds set {@code RANK} and {@code WORLD_SIZE} so, and {@code srun --ntasks-per-node=1} does.
     *
     * @param environment as {@link System#getenv()} has it
     * @param count how many are to be started here
     * @throws SaccadeException of kind user, if the variables are wrong, or if this process is one
     *     of several ranks of its machine already
     */
    public static List<Map<String, String>> ofRanksHere(
            Map<String, String> environment, int count) {
        RankEnvironment here = new RankEnvironment(environment);
        if (here.variable(LOCAL_RANK).isPresent()) {
            throw startedTwice(LOCAL_RANK);
        }
        Optional<Place> machine = here.find();
        if (machine.isPresent() && machine.get().localRank > 0) {
            throw startedTwice(here.starter().orElseThrow().localRank);
        }
        int before = machine.map(Place::rank).orElse(0) * count;
        int all = machine.map(Place::worldSize).orElse(1) * count;
        Master master = machine.map(Place::master).orElseGet(RankEnvironment::onThisMachine);
        return IntStream.range(0, count)
                .mapToObj(local -> new Place(before + local, all, local, master))
                .map(place -> variables(place, count))
                .toList();
    }

    private static SaccadeException startedTwice(String variable) {
        return SaccadeException.user(
                        "%s is set: this process is already one of several on its machine; do not"
                                + " start more from it, or start one process per machine",
                        variable)
                .withSettings("nproc");
    }

    private static Map<String, String> variables(Place place, int localWorldSize) {
        return Map.of(
                RANK, Integer.toString(place.rank),
                WORLD_SIZE, Integer.toString(place.worldSize),
                LOCAL_RANK, Integer.toString(place.localRank),
                LOCAL_WORLD_SIZE, Integer.toString(localWorldSize),
                MASTER_ADDR, place.master.address,
                MASTER_PORT, Integer.toString(place.master.port));
    }

    private static Master onThisMachine() {
        return new Master("127.0.0.1", Rendezvous.freePort());
    }

    private Optional<Place> find() {
        Optional<Starter> found = starter();
        if (found.isEmpty()) {
            return Optional.empty();
        }
        Starter starter = found.get();
        String sizeName = sizeName(starter);
        OptionalInt size = number(sizeName, "the number of ranks", 1, MOST_RANKS);
        int worldSize = size.orElse(MOST_RANKS);
        requireSame(WORLD_SIZE, sizeName);
        boolean alone = worldSize == 1 && variable(starter.rank).isEmpty();
        OptionalInt rank =
                alone
                        ? OptionalInt.of(0)
                        : number(starter.rank, "which rank this is", 0, worldSize - 1);
        int localRank = localRank(starter, rank.orElse(worldSize - 1));
        Optional<Master> master = worldSize == 1 ? Optional.empty() : master(starter);
        problems.throwIfAny("the environment of a rank, as " + starter.command + " sets it");
        return master.map(at -> new Place(rank.getAsInt(), worldSize, localRank, at));
    }

    private Optional<Starter> starter() {
        // Open MPI lets srun start one process a machine, which starts the ranks.
        return Stream.of(Starter.values())
                .filter(starter -> variable(starter.rank).isPresent())
                .filter(starter -> starter != Starter.SLURM || isStep())
                .findFirst()
                .or(
                        () ->
                                Stream.of(WORLD_SIZE, LOCAL_RANK)
                                        .filter(name -> variable(name).isPresent())
                                        .map(name -> Starter.TORCHRUN)
                                        .findFirst());
    }

    /** Returns whether srun has started the process; the shell of an allocation is no rank. */
    private boolean isStep() {
        return variable("SLURM_STEP_ID").isPresent();
    }

    private String sizeName(Starter starter) {
        // That of the allocation may be that of all its steps.
        String ofStep = "SLURM_STEP_NUM_TASKS";
        return starter == Starter.SLURM && variable(ofStep).isPresent()
                ? ofStep
                : starter.worldSize;
    }

    private int localRank(Starter starter, int rank) {
        // Slurm shows such a task one GPU alone, which is then the first.
        boolean ownGpu =
                starter == Starter.SLURM
                        && variable("SLURM_GPUS_PER_TASK").filter("1"::equals).isPresent();
        if (variable(starter.localRank).isEmpty() || ownGpu) {
            return 0;
        }
        return number(starter.localRank, "which rank of its machine this is", 0, rank).orElse(0);
    }

    private Optional<Master> master(Starter starter) {
        int port =
                variable(MASTER_PORT).isEmpty()
                        ? DEFAULT_PORT
                        : number(MASTER_PORT, "a port of rank 0", 1, LAST_PORT).orElse(1);
        Optional<String> address = variable(MASTER_ADDR);
        if (address.isEmpty() && starter == Starter.SLURM) {
            address = firstHost();
        } else if (address.isEmpty()) {
            problems.add("%s is not set, expected the machine of rank 0", MASTER_ADDR);
        }
        return address.map(host -> new Master(host, port));
    }

    private Optional<String> firstHost() {
        Optional<String> name =
                Stream.of("SLURM_STEP_NODELIST", "SLURM_NODELIST")
                        .filter(each -> variable(each).isPresent())
                        .findFirst();
        if (name.isEmpty()) {
            problems.add(
                    "neither %s nor SLURM_STEP_NODELIST is set, expected the machine of rank 0",
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
        OptionalInt number =
                text.filter(NUMBER.asMatchPredicate()).stream()
                        .mapToInt(Integer::parseInt)
                        .findAny();
        if (number.isEmpty() || number.getAsInt() < least || number.getAsInt() > most) {
            problems.add(
                    "%s: got %s, expected %s, a number from %s to %s",
                    name, text.get(), meaning, least, most);
            return OptionalInt.empty();
        }
        return number;
    }

    private Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name))
                .map(String::strip)
                .filter(value -> !value.isEmpty());
    }
}

package dev.saccade.core.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

class RankEnvironmentTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(7);

    private static final String SLURM =
            "SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 ";

    private static Map<String, String> environment(String text) {
        Map<String, String> variables = new HashMap<>();
        Stream.of(text.split(" "))
                .map(each -> each.split("=", 2))
                .filter(each -> each.length == 2)
                .forEach(each -> variables.put(each[0], each[1]));
        return variables;
    }

    private static Optional<Rendezvous> read(String text) {
        return RankEnvironment.rendezvous(environment(text), TIMEOUT);
    }

    private static String refused(String text) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> read(text), text);
        assertEquals(SaccadeException.Kind.USER, error.kind());
        return error.getMessage();
    }

    @ParameterizedTest
    @CsvSource({
        // torchrun
        "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=a MASTER_PORT=1234,    a 1234 3 4 1",
        // Kubeflow: one rank per pod
        "RANK=3 WORLD_SIZE=4 MASTER_ADDR=job-master-0 MASTER_PORT=23456,     job-master-0 23456 3 4 0",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=::1,                                ::1 29500 0 2 0",
        // torchrun started by srun, or by an mpirun started by srun
        "RANK=1 WORLD_SIZE=2 MASTER_ADDR=a SLURM_STEP_ID=0 SLURM_PROCID=7 SLURM_NTASKS=8, a 29500 1 2 0",
        "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=2 MASTER_ADDR=b"
                + " SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=1,           b 29500 2 4 2",
    })
    void readsVariablesOfAllLaunchers(String text, String expected) {
        Rendezvous at = read(text).orElseThrow();
        assertEquals(TIMEOUT, at.timeout());
        assertEquals(
                expected,
                Text.format(
                        "%s %d %d %d %d",
                        at.masterAddress(),
                        at.masterPort(),
                        at.rank(),
                        at.worldSize(),
                        at.localRank()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "node[03-05,7] | node03",
                "node1 | node1",
                "gpu-a,gpu-b | gpu-a",
                "n[1,3-4]-ib,m[2] | n1-ib",
                "rack[1-2]n[007-9] | rack1n007",
                "a.b.org,c[1-2] | a.b.org"
            })
    void usesTheFirstSlurmHost(String list, String first) {
        for (String name : List.of("SLURM_NODELIST", "SLURM_STEP_NODELIST")) {
            Rendezvous at = read(SLURM + name + "=" + list).orElseThrow();
            assertEquals(new Rendezvous(first, 29500, 5, 8, 1, TIMEOUT), at);
        }
        String more = " MASTER_ADDR=b MASTER_PORT=9 SLURM_NODELIST=other WORLD_SIZE=8";
        Rendezvous at = read(SLURM + "SLURM_STEP_NODELIST=" + list + more).orElseThrow();
        assertEquals(new Rendezvous("b", 9, 5, 8, 1, TIMEOUT), at);
    }

    @Test
    void slurmTaskWithOneGpuUsesIndexZero() {
        String text = SLURM + "SLURM_NODELIST=a ";
        assertEquals(0, read(text + "SLURM_GPUS_PER_TASK=1").orElseThrow().localRank());
        assertEquals(1, read(text + "SLURM_GPUS_PER_TASK=2").orElseThrow().localRank());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "MASTER_ADDR=a MASTER_PORT=1",
                "RANK= WORLD_SIZE=",
                "WORLD_SIZE=1",
                "RANK=0 WORLD_SIZE=1 LOCAL_RANK=0",
                "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1",
                // the shell of an allocation, and a shell started by srun in an allocation
                "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_NODELIST=a",
                "SLURM_STEP_ID=1 SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=1"
            })
    void isEmptyForASingleProcess(String text) {
        assertEquals(Optional.empty(), read(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RANK=1 WORLD_SIZE=2 | torchrun | MASTER_ADDR is not set, expected the host of"
                        + " rank 0",
                "WORLD_SIZE=2 MASTER_ADDR=a | torchrun | RANK is not set, expected the rank",
                "RANK=1 MASTER_ADDR=a | torchrun | WORLD_SIZE is not set, expected the number of"
                        + " ranks",
                "RANK=4 WORLD_SIZE=4 MASTER_ADDR=a | torchrun | RANK: got 4, expected the rank,"
                        + " a number from 0 to 3",
                "RANK=1 WORLD_SIZE=1 | torchrun | RANK: got 1, expected the rank, a number from"
                        + " 0 to 0",
                "RANK=0 WORLD_SIZE=-2 MASTER_ADDR=a | torchrun | WORLD_SIZE: got -2, expected the"
                        + " number of ranks, a number from 1 to 100000",
                "RANK=1 WORLD_SIZE=4 LOCAL_RANK=2 MASTER_ADDR=a | torchrun | LOCAL_RANK: got 2,"
                        + " expected the local rank, a number from 0 to 1",
                "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=65536 | torchrun | MASTER_PORT: got"
                        + " 65536, expected the port of rank 0, a number from 1 to 65535",
                "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 WORLD_SIZE=4 MASTER_ADDR=a | mpirun"
                        + " | WORLD_SIZE is 4, but OMPI_COMM_WORLD_SIZE is 2; unset one of the two",
                "SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 | srun | neither MASTER_ADDR nor"
                        + " SLURM_STEP_NODELIST is set, expected the host of rank 0",
                "SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NODELIST=a[b | srun |"
                        + " SLURM_NODELIST: got a[b, expected hosts such as node[03-05,7]",
            })
    void reportsWrongVariables(String text, String starter, String problem) {
        assertEquals("rank variables set by " + starter + ": " + problem, refused(text));
    }

    @Test
    void reportsAllProblemsTogether() {
        String error = refused("RANK=first LOCAL_RANK=1.5 MASTER_PORT=http");
        assertTrue(error.startsWith("rank variables set by torchrun: 5 problems"));
        for (String name :
                List.of("RANK: got first", "LOCAL_RANK: got 1.5", "MASTER_PORT: got http")) {
            assertTrue(error.contains("  - " + name), error);
        }
        assertTrue(error.contains("WORLD_SIZE is not set"), error);
        assertTrue(error.contains("MASTER_ADDR is not set"), error);
    }

    @Test
    void createsVariablesOfLocalRanks() {
        List<Map<String, String>> ranks = RankEnvironment.localRanks(Map.of(), 3);
        for (int rank = 0; rank < 3; rank++) {
            Rendezvous at = RankEnvironment.rendezvous(ranks.get(rank), TIMEOUT).orElseThrow();
            int port = Integer.parseInt(ranks.get(0).get("MASTER_PORT"));
            assertEquals(new Rendezvous("127.0.0.1", port, rank, 3, rank, TIMEOUT), at);
            assertEquals("3", ranks.get(rank).get("LOCAL_WORLD_SIZE"));
        }
        List<Map<String, String>> more = RankEnvironment.localRanks(Map.of(), 3);
        assertTrue(!more.get(0).get("MASTER_PORT").equals(ranks.get(0).get("MASTER_PORT")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RANK=1 WORLD_SIZE=3 MASTER_ADDR=a MASTER_PORT=7",
                "SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=3 SLURM_LOCALID=0 SLURM_NODELIST=a,b,c"
                        + " MASTER_PORT=7"
            })
    void treatsRanksOfTheEnvironmentAsMachines(String text) {
        List<Map<String, String>> ranks = RankEnvironment.localRanks(environment(text), 2);
        for (int local = 0; local < 2; local++) {
            Map<String, String> all = environment(text);
            all.putAll(ranks.get(local));
            assertEquals(
                    new Rendezvous("a", 7, 2 + local, 6, local, TIMEOUT),
                    RankEnvironment.rendezvous(all, TIMEOUT).orElseThrow());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RANK=1 WORLD_SIZE=3 LOCAL_RANK=0 MASTER_ADDR=a, LOCAL_RANK",
        "SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=1 SLURM_NODELIST=a,"
                + " SLURM_LOCALID"
    })
    void rejectsStartingRanksFromARank(String text, String variable) {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> RankEnvironment.localRanks(environment(text), 2));
        assertEquals(
                variable
                        + " is set: this process is already one of several on its machine; do"
                        + " not start ranks from it, or start one process per machine",
                error.getMessage());
    }
}

package dev.saccade.core;

/** Configures libgomp, libtorch's OpenMP library on Linux, before libtorch is loaded. */
final class OpenMp {

    private static final String SPIN_COUNT = "GOMP_SPINCOUNT";

    /** Iterations, which take a few microseconds; libgomp spins for milliseconds by default. */
    private static final String SHORT_SPIN = "3000";

    private OpenMp() {}

    /**
     * Limits how long idle threads spin before they sleep, unless the environment already does.
     *
     * <p>By default, threads that wait for each other keep their cores busy. If other processes
     * need these cores, inference becomes many times slower.
     */
    static void limitSpinning() {
        boolean usesLibgomp = NativePlatform.name().startsWith("linux-");
        if (usesLibgomp && System.getenv("OMP_WAIT_POLICY") == null) {
            ProcessEnvironment.setIfAbsent(SPIN_COUNT, SHORT_SPIN);
        }
    }
}

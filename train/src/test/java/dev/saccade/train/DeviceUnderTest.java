package dev.saccade.train;

import static org.junit.jupiter.api.Assumptions.abort;

import ai.djl.Device;

import dev.saccade.core.Devices;

/**
 * The device that tests tagged {@code gpu} hold against the CPU: the first GPU. The property {@code
 * saccade.gpu} names another; {@code cpu} runs the same tests where there is no GPU.
 */
final class DeviceUnderTest {

    private static final String NAME = System.getProperty("saccade.gpu", "cuda");

    private DeviceUnderTest() {}

    /** Returns its name, as in configs; skips the test where it cannot be used. */
    static String name() {
        device();
        return NAME;
    }

    /** Returns it; skips the test where it cannot be used. */
    static Device device() {
        if (NAME.equals("cpu")) {
            return Device.cpu();
        }
        Device gpu = NAME.equals("cuda") ? Device.gpu() : Device.fromName(NAME);
        Devices.local().fault(gpu).ifPresent(why -> abort("tests of GPUs are skipped: " + why));
        return gpu;
    }
}

package dev.saccade.core.nn;

import dev.saccade.core.ops.Kernels;
import dev.saccade.core.ops.Script;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What linear layers multiply in when they predict. */
final class Precision {

    private static final String PROPERTY = "saccade.precision";

    private static final Logger LOG = LoggerFactory.getLogger(Precision.class);

    private Precision() {}

    private static final class Bfloat16 {

        static final boolean ON = isOn();

        private static boolean isOn() {
            String asked = System.getProperty(PROPERTY, "float32");
            if (asked.equals("float32")) {
                return false;
            }
            if (!asked.equals("bfloat16")) {
                LOG.warn(
                        "-D{}={}: got neither float32 nor bfloat16, float32 it is",
                        PROPERTY,
                        asked);
                return false;
            }
            boolean supported =
                    Kernels.status().loaded()
                            && Script.evaluate("int(ops.mkldnn._is_mkldnn_bf16_supported())") > 0;
            if (!supported) {
                LOG.warn("-D{}=bfloat16: the processor has none, float32 it is", PROPERTY);
            }
            return supported;
        }
    }

    /** Returns whether it is bfloat16: if asked for, and if the processor has it. */
    static boolean isBfloat16() {
        return Bfloat16.ON;
    }
}

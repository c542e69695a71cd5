package dev.saccade.train.logs;

import com.google.common.primitives.Bytes;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.zip.CRC32C;

/**
 * Writes a TensorBoard event file with scalars, such as {@code train/loss}, and pictures.
 *
 * <p>Each record is a length, its checksum, a serialized {@code tensorflow.Event}, its checksum
 * (TFRecord). On resume, a start event makes TensorBoard discard events of the interrupted run that
 * are later than the step to resume from.
 */
public final class TensorBoardLog implements LogWriter {

    // Fields of tensorflow.Event.
    private static final int WALL_TIME = 1;
    private static final int STEP = 2;
    private static final int FILE_VERSION = 3;
    private static final int SUMMARY = 5;
    private static final int SESSION_LOG = 7;

    private final Path file;
    private final Clock clock;
    private final OutputStream out;

    /** Starts an event file in a folder, which is created if missing. */
    public TensorBoardLog(Path folder, long iteration, Clock clock) {
        this.clock = clock;
        this.file = folder.resolve("events.out.tfevents." + clock.millis() + ".saccade");
        try {
            Files.createDirectories(folder);
            out = Files.newOutputStream(file);
        } catch (IOException e) {
            throw failure(e);
        }
        write(event(0).text(FILE_VERSION, "brain.Event:2"));
        int start = 1;
        write(event(iteration).message(SESSION_LOG, new ProtoMessage().integer(1, start)));
    }

    @Override
    public void writeSteps(StepReport mean, MemoryUse memory) {
        ProtoMessage summary = new ProtoMessage();
        scalar(summary, "train/learning_rate", mean.learningRate());
        scalar(summary, "train/loss", mean.loss());
        mean.losses().forEach((name, value) -> scalar(summary, "train/" + name, value));
        mean.metrics().forEach((name, value) -> scalar(summary, "train/" + name, value));
        scalar(summary, "train/gradient_norm", mean.gradientNorm());
        scalar(summary, "speed/seconds_per_step", mean.seconds());
        scalar(summary, "speed/data_fraction", mean.dataFraction());
        scalar(summary, "memory/resident_mib", memory.residentBytes() / (double) (1 << 20));
        scalar(summary, "memory/peak_tensor_mib", memory.peakTensorBytes() / (double) (1 << 20));
        scalar(summary, "memory/arrays", memory.arrays());
        write(event(mean.iteration()).message(SUMMARY, summary));
    }

    @Override
    public void writeEvaluation(EvaluationReport evaluation) {
        ProtoMessage summary = new ProtoMessage();
        evaluation.metrics().forEach((name, value) -> scalar(summary, "eval/" + name, value));
        evaluation.pictures().forEach((name, png) -> picture(summary, "eval/" + name, png));
        write(event(evaluation.iteration()).message(SUMMARY, summary));
    }

    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private ProtoMessage event(long step) {
        return new ProtoMessage()
                .doubleNumber(WALL_TIME, clock.millis() / 1000.0)
                .integer(STEP, step);
    }

    private static void scalar(ProtoMessage summary, String tag, double value) {
        summary.message(1, new ProtoMessage().text(1, tag).floatNumber(2, (float) value));
    }

    private static void picture(ProtoMessage summary, String tag, byte[] png) {
        // PNG width and height are in the first 8 bytes of the first chunk.
        ByteBuffer header = ByteBuffer.wrap(png);
        int rgb = 3;
        ProtoMessage image =
                new ProtoMessage()
                        .integer(1, header.getInt(20))
                        .integer(2, header.getInt(16))
                        .integer(3, rgb)
                        .bytes(4, png);
        summary.message(1, new ProtoMessage().text(1, tag).message(4, image));
    }

    private void write(ProtoMessage event) {
        byte[] data = event.toByteArray();
        byte[] length = ProtoMessage.littleEndian(Long.BYTES).putLong(data.length).array();
        try {
            out.write(Bytes.concat(length, checksum(length), data, checksum(data)));
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /** Returns TFRecord's masked CRC32C: rotated, plus a constant. */
    private static byte[] checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        int masked = Integer.rotateRight((int) crc.getValue(), 15) + 0xa282ead8;
        return ProtoMessage.littleEndian(Integer.BYTES).putInt(masked).array();
    }

    private SaccadeException failure(IOException e) {
        return SaccadeException.io(
                e, "%s: cannot write TensorBoard events: %s", file, e.getMessage());
    }
}

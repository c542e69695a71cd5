package dev.saccade.core;

import com.google.common.base.Throwables;
import com.google.common.collect.Lists;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converts out-of-memory errors of Java, libtorch and OpenCV to user errors with advice. */
public enum OutOfMemory {
    /** While a model is created and its weights are loaded. */
    LOADING("free memory, or use a smaller model"),

    /** While a model is trained. */
    TRAINING(
            "lower data.batch_size and raise accumulation, set"
                    + " model.backbone.activation_checkpointing=true if the backbone supports it,"
                    + " or lower the scales of resize in data.train_transforms"),

    /** While images are read and processed. */
    PREDICTION(
            "use smaller images (resize in data.val_transforms, scales of test-time"
                    + " augmentation), or fewer images at a time"),

    /** While an image is read. */
    READING("use a smaller image, or read fewer images at a time"),

    /** Anything else. */
    OTHER("free memory, or process less data at a time");

    private static final Pattern MESSAGE =
            Pattern.compile(
                    "[^\\n]*(can't allocate memory|out of memory|bad_alloc|_ALLOC_FAILED"
                            + "|Insufficient memory|Storage size calculation overflowed)[^\\n]*");

    private final String advice;

    OutOfMemory(String advice) {
        this.advice = advice;
    }

    /** Runs some work; throws a user error with advice if memory runs out. */
    public <T> T call(Supplier<T> work) {
        return call(work, () -> "");
    }

    /** Runs some work; the message of an out-of-memory error ends with the given facts. */
    public <T> T call(Supplier<T> work, Supplier<String> facts) {
        try {
            return work.get();
        } catch (RuntimeException | OutOfMemoryError e) {
            Optional<SaccadeException> reported = of(e, facts);
            if (reported.isPresent()) {
                throw reported.get();
            }
            throw e;
        }
    }

    /** Returns a user error with advice; empty for other errors and existing user or I/O errors. */
    public Optional<SaccadeException> of(Throwable error) {
        return of(error, () -> "");
    }

    private Optional<SaccadeException> of(Throwable error, Supplier<String> facts) {
        if (error instanceof SaccadeException known
                && known.kind() != SaccadeException.Kind.INTERNAL) {
            return Optional.empty();
        }
        return reason(error)
                .map(
                        reason ->
                                SaccadeException.user(
                                        error,
                                        "out of memory: %s (%s)",
                                        advice,
                                        reason + facts.get()));
    }

    /** Returns whether Java memory, such as the heap limited by {@code -Xmx}, was exhausted. */
    public static boolean isJavaHeap(Throwable error) {
        return Throwables.getCausalChain(error).stream()
                .anyMatch(OutOfMemoryError.class::isInstance);
    }

    /** Returns the original message of an out-of-memory error; empty for other errors. */
    public static Optional<String> reason(Throwable error) {
        return Lists.reverse(Throwables.getCausalChain(error)).stream()
                .flatMap(cause -> originalMessage(cause).stream())
                .findFirst();
    }

    private static Optional<String> originalMessage(Throwable error) {
        if (error instanceof OutOfMemoryError) {
            return Optional.of(error.getMessage() + "; raise the limit with -Xmx");
        }
        Matcher found = MESSAGE.matcher(String.valueOf(error.getMessage()));
        return found.find() ? Optional.of(found.group().strip()) : Optional.empty();
    }
}

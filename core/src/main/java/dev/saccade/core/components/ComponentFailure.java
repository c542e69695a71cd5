package dev.saccade.core.components;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Lists;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;

import java.net.URL;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * Recognizes errors in custom components: their stack trace contains code from the folder or jar of
 * a third-party {@link ComponentProvider}.
 */
public final class ComponentFailure {

    private static final String SACCADE = "dev.saccade.";

    /** Prefix of the last line of a TorchScript traceback. */
    private static final String TORCH_ERROR = "RuntimeError: ";

    private ComponentFailure() {}

    /**
     * Returns an error that names the custom component, its source line and the reason. Empty for
     * errors from elsewhere, user and I/O errors, and out-of-memory errors.
     */
    public static Optional<SaccadeException> of(Throwable error) {
        if (isReported(error) || OutOfMemory.OTHER.of(error).isPresent()) {
            return Optional.empty();
        }
        List<Throwable> fromRoot = Lists.reverse(Throwables.getCausalChain(error));
        ImmutableSet<String> outside = outside();
        List<StackTraceElement> own =
                fromRoot.stream()
                        .flatMap(cause -> Arrays.stream(cause.getStackTrace()))
                        .filter(frame -> isIn(outside, frame))
                        .toList();
        if (own.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                SaccadeException.user(
                        error,
                        "%s: failed in %s: %s; this is third-party code, check it first",
                        name(own),
                        own.get(0),
                        reason(fromRoot)));
    }

    private static boolean isReported(Throwable error) {
        return error instanceof SaccadeException known
                && known.kind() != SaccadeException.Kind.INTERNAL;
    }

    /** Returns the folders and jars of third-party components. */
    private static ImmutableSet<String> outside() {
        try {
            return ServiceLoader.load(ComponentProvider.class).stream()
                    .map(ServiceLoader.Provider::type)
                    .filter(provider -> !provider.getName().startsWith(SACCADE))
                    .flatMap(ComponentFailure::location)
                    .collect(toImmutableSet());
        } catch (ServiceConfigurationError e) {
            return ImmutableSet.of();
        }
    }

    private static boolean isIn(ImmutableSet<String> outside, StackTraceElement frame) {
        return !frame.getClassName().startsWith(SACCADE)
                && classOf(frame).flatMap(ComponentFailure::location).anyMatch(outside::contains);
    }

    private static Stream<Class<?>> classOf(StackTraceElement frame) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try {
            return Stream.of(Class.forName(frame.getClassName(), /* initialize= */ false, loader));
        } catch (ClassNotFoundException | LinkageError e) {
            return Stream.empty();
        }
    }

    private static Stream<String> location(Class<?> type) {
        return Optional.ofNullable(type.getProtectionDomain().getCodeSource())
                .map(CodeSource::getLocation)
                .map(URL::toExternalForm)
                .stream();
    }

    /** Returns the name of the failed component; if unknown, the class of the first frame. */
    private static String name(List<StackTraceElement> frames) {
        return frames.stream()
                .flatMap(ComponentFailure::classOf)
                .flatMap(ComponentFailure::components)
                .findFirst()
                .map(component -> "component " + component.value())
                .orElseGet(() -> frames.get(0).getClassName());
    }

    /** Returns the annotation of a class or of its only nested settings record. */
    private static Stream<Component> components(Class<?> type) {
        List<Component> named =
                Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses()))
                        .map(each -> each.getAnnotation(Component.class))
                        .filter(Objects::nonNull)
                        .toList();
        return named.size() == 1 ? named.stream() : Stream.empty();
    }

    /** Returns a one-line reason, with a location if Saccade added one. */
    private static String reason(List<Throwable> fromRoot) {
        return Lists.reverse(fromRoot).stream()
                .filter(SaccadeException.class::isInstance)
                .map(Throwable::getMessage)
                .filter(message -> message.lines().count() == 1)
                .findFirst()
                .orElseGet(() -> line(fromRoot.get(0)));
    }

    private static String line(Throwable root) {
        List<String> lines = root.toString().lines().map(String::strip).toList();
        return lines.stream()
                .filter(line -> line.startsWith(TORCH_ERROR))
                .findFirst()
                .orElseGet(() -> String.join(" ", lines.subList(0, Math.min(2, lines.size()))));
    }
}

package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Streams;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Every config setting has an effect: code reads it besides validation and copying. */
class SettingsTest {

    /** Settings from which a copy computes another setting. */
    private static final Set<String> COPIED = Set.of("ResizeEdge.cropFraction");

    private static final JavaClasses CODE =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("dev.saccade");

    /** What the binder reads by its key, to take the defaults of a published model. */
    private static final String VARIANT = "variant";

    /** A record of settings of which one is read, one is only checked and copied. */
    record Sample(int used, int idle) {

        Sample {
            if (idle < 0) {
                throw new IllegalArgumentException("idle: got " + idle);
            }
        }

        Sample withUsed(int other) {
            return new Sample(other, idle);
        }

        int calledByNobody() {
            return idle;
        }

        int twice() {
            return 2 * used;
        }
    }

    @Test
    void everySettingIsRead() {
        Set<Class<?>> records = records();
        Set<String> idle = new TreeSet<>();
        records.forEach(type -> idle.addAll(idle(CODE, type)));
        idle.removeAll(COPIED);
        assertEquals(Set.of(), idle, "settings that nothing reads");
        assertTrue(records.size() > 50, "only " + records.size() + " records are found");
    }

    @Test
    void findsSettingsThatAreOnlyCheckedAndCopied() {
        assertEquals(4, new Sample(1, 0).withUsed(2).twice());
        JavaClasses here = new ClassFileImporter().importClasses(Sample.class, SettingsTest.class);
        assertEquals(Set.of("SettingsTest$Sample.idle"), idle(here, Sample.class));
    }

    /** Returns the records that a config can hold: those that it names, and all in them. */
    private static Set<Class<?>> records() {
        Set<Class<?>> found = new LinkedHashSet<>();
        Deque<Type> toVisit = new ArrayDeque<>(List.of(RunConfig.class, ModelSpec.class));
        CODE.stream()
                .filter(type -> type.isRecord() && type.isAssignableTo(ComponentConfig.class))
                .forEach(type -> toVisit.add(type.reflect()));
        while (!toVisit.isEmpty()) {
            Type next = toVisit.remove();
            if (next instanceof ParameterizedType generic) {
                toVisit.addAll(Arrays.asList(generic.getActualTypeArguments()));
            } else if (next instanceof Class<?> type && type.isRecord() && found.add(type)) {
                for (RecordComponent component : type.getRecordComponents()) {
                    toVisit.add(component.getGenericType());
                }
            }
        }
        return found;
    }

    private static Set<String> idle(JavaClasses code, Class<?> type) {
        JavaClass settings = code.get(type);
        Set<String> idle = new TreeSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
            boolean isRead =
                    readers(settings, component.getName())
                            .anyMatch(reader -> counts(reader, settings, new HashSet<>()));
            if (!isRead && !component.getName().equals(VARIANT)) {
                idle.add(settings.getName().replaceAll(".*\\.", "") + "." + component.getName());
            }
        }
        return idle;
    }

    /** Returns what reads a component: its field, its accessor, or that of an interface. */
    private static Stream<JavaCodeUnit> readers(JavaClass settings, String component) {
        return withInterfaces(settings)
                .flatMap(type -> type.getAccessesToSelf().stream())
                .filter(access -> access.getTarget().getName().equals(component))
                .map(JavaAccess::getOrigin)
                .filter(reader -> !isAccessor(reader, settings, component));
    }

    private static boolean isAccessor(JavaCodeUnit reader, JavaClass settings, String component) {
        return reader.getOwner().equals(settings)
                && reader.getName().equals(component)
                && reader.getRawParameterTypes().isEmpty();
    }

    private static Stream<JavaClass> withInterfaces(JavaClass settings) {
        return Streams.concat(Stream.of(settings), settings.getAllRawInterfaces().stream());
    }

    /** Returns whether reading is a use: outside of the record, or in a method that is used. */
    private static boolean counts(
            JavaCodeUnit reader, JavaClass settings, Set<JavaCodeUnit> visited) {
        if (!reader.getOwner().equals(settings)) {
            return true;
        }
        boolean isCopyOrCheck =
                reader instanceof JavaConstructor || reader.getRawReturnType().equals(settings);
        if (isCopyOrCheck || !(reader instanceof JavaMethod) || !visited.add(reader)) {
            return false;
        }
        return isDemanded(reader, settings)
                || reader.getAccessesToSelf().stream()
                        .map(JavaAccess::getOrigin)
                        .anyMatch(caller -> counts(caller, settings, visited));
    }

    /** Returns whether a method is one of an interface. */
    private static boolean isDemanded(JavaCodeUnit method, JavaClass settings) {
        return settings.getAllRawInterfaces().stream()
                .anyMatch(
                        type ->
                                type.tryGetMethod(
                                                method.getName(),
                                                method.getRawParameterTypes().stream()
                                                        .map(JavaClass::getName)
                                                        .toArray(String[]::new))
                                        .isPresent());
    }
}

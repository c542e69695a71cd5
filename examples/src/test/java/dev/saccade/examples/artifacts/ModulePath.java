package dev.saccade.examples.artifacts;

import static com.google.common.collect.ImmutableSortedSet.toImmutableSortedSet;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.ImmutableSortedSet;

import java.io.File;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Modules on the class path of the test, by name. */
record ModulePath(ImmutableSortedMap<String, ModuleReference> modules) {

    /** Returns modules and all modules that they require, without modules of the JDK. */
    static ModulePath of(String... names) {
        Map<String, ModuleReference> known = new HashMap<>();
        Splitter.on(File.pathSeparatorChar)
                .splitToStream(System.getProperty("java.class.path"))
                .flatMap(ModulePath::modulesIn)
                .forEach(module -> known.putIfAbsent(module.descriptor().name(), module));
        Map<String, ModuleReference> found = new HashMap<>();
        Queue<String> open = new ArrayDeque<>(List.of(names));
        while (!open.isEmpty()) {
            String name = open.remove();
            ModuleReference module = known.get(name);
            if (module != null && found.put(name, module) == null) {
                open.addAll(required(module.descriptor()));
            }
        }
        return new ModulePath(ImmutableSortedMap.copyOf(found));
    }

    private static Stream<ModuleReference> modulesIn(String entry) {
        try {
            return ModuleFinder.of(Path.of(entry)).findAll().stream();
        } catch (FindException e) {
            return Stream.empty();
        }
    }

    private static List<String> required(ModuleDescriptor module) {
        return module.requires().stream()
                .filter(each -> !each.modifiers().contains(Requires.Modifier.STATIC))
                .map(Requires::name)
                .toList();
    }

    /** Returns whether neither a module nor a module that it requires is automatic. */
    private boolean canBeLinked(String name) {
        ModuleReference module = modules.get(name);
        return module == null
                || (!module.descriptor().isAutomatic()
                        && required(module.descriptor()).stream().allMatch(this::canBeLinked));
    }

    ImmutableSortedSet<String> linkable() {
        return modules.keySet().stream()
                .filter(this::canBeLinked)
                .collect(toImmutableSortedSet(Comparator.naturalOrder()));
    }

    /** Formats the modules for {@code --module-path}. */
    String path() {
        return modules.values().stream()
                .map(module -> Path.of(module.location().orElseThrow()).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }
}

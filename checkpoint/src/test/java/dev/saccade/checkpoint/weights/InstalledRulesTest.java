package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.conversion.CheckpointRules;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Messages for rules that cannot be read. */
class InstalledRulesTest {

    @TempDir private Path folder;

    @Component("strict")
    public record Strict(int width) implements Backbone.Config {

        @Override
        public Backbone build() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CheckpointRules checkpointRules() {
            return CheckpointRules.NONE;
        }
    }

    public static final class Provider implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Strict.class);
        }
    }

    @Test
    void rulesNeedDefaultsForAllSettings() throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(ComponentProvider.class.getName()), Provider.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        URL[] classes = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classes, before)) {
            thread.setContextClassLoader(loader);
            String message = assertThrows(SaccadeException.class, InstalledRules::all).getMessage();
            assertTrue(message.startsWith(Strict.class.getName() + ": "), message);
            assertTrue(message.contains("@Default"), message);
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}

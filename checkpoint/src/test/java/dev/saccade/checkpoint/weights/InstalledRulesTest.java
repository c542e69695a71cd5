package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

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

    @Part("strict")
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

    public static final class Provider implements PartProvider {

        @Override
        public List<Class<? extends PartConfig>> parts() {
            return List.of(Strict.class);
        }
    }

    @Test
    void rulesNeedDefaultsForAllSettings() throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(PartProvider.class.getName()), Provider.class.getName());
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

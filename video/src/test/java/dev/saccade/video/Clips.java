package dev.saccade.video;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Test clips. */
final class Clips {

    private Clips() {}

    /** Copies a test clip into a folder. */
    static Path copy(Path folder, String name) throws IOException {
        return Files.write(folder.resolve(name), bytes(name));
    }

    static byte[] bytes(String name) throws IOException {
        try (InputStream content = Clips.class.getResourceAsStream(name)) {
            return content.readAllBytes();
        }
    }

    /** Reads all frames; returns their times. */
    static List<Double> read(Video video) {
        return read(video, frame -> {});
    }

    static List<Double> read(Video video, Consumer<Video.Frame> inspect) {
        List<Double> seconds = new ArrayList<>();
        for (Optional<Video.Frame> next = video.next(); next.isPresent(); next = video.next()) {
            try (Video.Frame frame = next.get()) {
                seconds.add(frame.seconds());
                inspect.accept(frame);
            }
        }
        return seconds;
    }
}

package dev.saccade.cli.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The file {@code predictions.jsonl}: a line of JSON for each frame of videos and each photograph
 * of a list, written when it has been looked at, so that nothing of it need be held.
 */
public final class PredictionLines implements AutoCloseable {

    static final String NAME = "predictions.jsonl";

    private final OutputStream file;
    private final Consumer<String> also;
    private final Seen seen;

    /**
     * Starts the file.
     *
     * @param folder output folder; empty to write no file
     * @param also told of every line
     * @param seen told of what is in it
     */
    public PredictionLines(Optional<MadeFolder> folder, Consumer<String> also, Seen seen) {
        this.file = folder.map(made -> made.stream(NAME)).orElse(OutputStream.nullOutputStream());
        this.also = also;
        this.seen = seen;
    }

    /**
     * Writes a line.
     *
     * @param place says in what something was seen
     */
    void add(Map<String, Object> place, Prediction prediction) {
        JsonNode entries = JsonOption.tree(prediction.entry(place));
        String line = entries.toString();
        try {
            file.write((line + "\n").getBytes(UTF_8));
            file.flush();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", NAME, e.getMessage());
        }
        also.accept(line);
        seen.add(entries);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", NAME, e.getMessage());
        }
    }
}

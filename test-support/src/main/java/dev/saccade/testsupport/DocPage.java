package dev.saccade.testsupport;

import static com.google.common.collect.ImmutableList.toImmutableList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page of {@code docs/} or a section of it. */
public record DocPage(String text) {

    /** A file path in backticks followed by a code block. */
    private static final Pattern FILE =
            Pattern.compile(
                    "^`([^`\n]+)`\n\n```\\w*\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern BLOCK =
            Pattern.compile("^```(\\w+)\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    /** Reads a page of {@code docs/}; the working directory must be the folder of a module. */
    public static DocPage of(String name) throws IOException {
        return new DocPage(Files.readString(Path.of("..", "docs", name)));
    }

    public DocPage section(String heading) {
        Matcher found =
                Pattern.compile("^## " + heading + "\n(.*?)(?=^## |\\z)", FILE.flags())
                        .matcher(text);
        if (!found.find()) {
            throw new AssertionError("no section: " + heading);
        }
        return new DocPage(found.group(1));
    }

    /** Returns file contents by path; the last version of a file wins. */
    public Map<String, String> files() {
        Map<String, String> files = new LinkedHashMap<>();
        FILE.matcher(text).results().forEach(file -> files.put(file.group(1), file.group(2)));
        return files;
    }

    public void writeTo(Path folder) throws IOException {
        for (Map.Entry<String, String> file : files().entrySet()) {
            Path path = folder.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
        }
    }

    public List<String> blocks(String language, String start) {
        return BLOCK.matcher(text)
                .results()
                .filter(block -> block.group(1).equals(language))
                .map((MatchResult block) -> block.group(2))
                .filter(block -> block.startsWith(start))
                .collect(toImmutableList());
    }

    public String command(String start) {
        return blocks("sh", "").stream()
                .flatMap(String::lines)
                .filter(line -> line.startsWith(start))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no command: " + start));
    }
}

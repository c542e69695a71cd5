package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.common.base.CharMatcher;

import dev.saccade.cli.CommandResult;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Command lines, an argument a line, in a folder with a little of everything. They end in words for
 * people, whatever they say.
 */
final class CommandTarget implements FuzzTarget {

    private static final Set<Integer> CODES = Set.of(0, 2, 3, 130);
    private static final CharMatcher CONTROL =
            CharMatcher.javaIsoControl().and(CharMatcher.noneOf("\n\t"));

    /** What would take long, and rightly so. */
    private static final Set<String> WORK = Set.of("demo", "bench", "ops", "--size", "--classes");

    /** What leads out of the folder. */
    private static final Pattern OUTSIDE =
            Pattern.compile("(^|[^\\w.)\\]])/|\\.\\.|~", Pattern.DOTALL);

    private static final Pattern FRAME =
            Pattern.compile("\tat (?:[^/\n]*/)?([\\w.$]+)\\.([\\w$<>]+)\\(([\\w.]+):(\\d+)\\)");

    private final Playground playground = new Playground();

    @Override
    public String name() {
        return "commands";
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> seeds() {
        return Texts.all(
                "config\ngood.yaml\n--set\nepochs=24\n--set=model.backbone.depth=18",
                "config\ngood.yaml\n--json",
                "check\ngood.yaml\n--data\ndata\n--quick",
                "check\ngood.yaml\n--data=data\n--json",
                "convert\na.pth\nb.safetensors\n--force",
                "convert\na.safetensors\nb.pth\n--names\nofficial\n--part=conv",
                "predict\na.safetensors\nphoto.jpg\n--out\nfound\n--score=0.5\n--flip",
                "eval\na.safetensors\n--results\nresults\n--scales\n640x480,96x64\n--json",
                "export\na.safetensors\n--out\nserved",
                "train\ngood.yaml\n--data\ndata\n--out\nrun\n--init-from\na.pth\n--resume",
                "browse\nbad.yaml\n--out\npictures\n--count\n2\n--epoch=3",
                "info\nbad.yaml\n--set\nmodel.neck=null",
                "info\n--version",
                "predict\n--help",
                "bench\nmodel\n--help",
                "demo\n--scenes\n-1\n--help",
                "@good.yaml",
                "");
    }

    @Override
    public List<byte[]> words() {
        return Texts.split(
                "\n--set\n|\n--data\n|\n--out\n|\n--json|\n--help|\n--force|"
                        + "\n--flip|\n--tta\nflipped|\n--resume|\n--score\n|\n--scales\n|"
                        + "\n--count\n|config|check|convert|predict|eval|export|train|browse|"
                        + "info|env|good.yaml|bad.yaml|a.pth|a.safetensors|photo.jpg|data|"
                        + "@good.yaml|\n--\n|-h|-V|\n--set\nmodel.head.|\n--set\ndata.|"
                        + "type: |${x}|\u00a0|'|\"|\\");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        String line = Texts.of(input);
        String[] args = line.isEmpty() ? new String[0] : line.split("\n", -1);
        boolean helps = List.of(args).contains("--help");
        if (OUTSIDE.matcher(line).find()
                || (!helps && List.of(args).stream().anyMatch(CommandTarget::works))) {
            throw SaccadeException.user("not let in, neither here nor anywhere");
        }
        playground.tidy();
        CommandResult ended = CommandResult.saccade((Object[]) args);
        String printed = ended.out() + ended.err();
        if (!CODES.contains(ended.code()) || printed.contains("\tat ")) {
            throw bug(printed);
        }
        assertFalse(CONTROL.matchesAnyOf(printed), printed);
        if (ended.code() != 0) {
            assertFalse(printed.isBlank(), "nothing was said");
            throw SaccadeException.user("exit code %d", ended.code());
        }
    }

    /** Returns the exception whose stack trace was printed. */
    private static AssertionError bug(String printed) {
        AssertionError bug = new AssertionError(printed);
        bug.setStackTrace(
                FRAME.matcher(printed)
                        .results()
                        .map(CommandTarget::frame)
                        .toArray(StackTraceElement[]::new));
        return bug;
    }

    private static StackTraceElement frame(MatchResult frame) {
        int line = Integer.parseInt(frame.group(4));
        return new StackTraceElement(frame.group(1), frame.group(2), frame.group(3), line);
    }

    private static boolean works(String argument) {
        return WORK.stream().anyMatch(argument::startsWith);
    }

    @Override
    public long allowance(byte[] input) {
        return 256L << 20;
    }
}

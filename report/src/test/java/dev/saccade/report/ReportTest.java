package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.draw.ClassColors;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable.Row;
import dev.saccade.report.Histogram.Bar;
import dev.saccade.report.LineChart.Series;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

class ReportTest {

    private static final String HOSTILE =
            "</title></script><img src=x onerror=\"alert('1')\">&\0\u202E";
    private static final String SHOWN =
            "</title></script><img src=x onerror=\"alert('1')\">&\\u0000\\u202e";

    @TempDir private Path folder;

    @Test
    void showsAllBlocks() throws Exception {
        Document page = parse(write(full("leaf")));

        assertEquals("leaf", text(page, "h1"));
        assertEquals(2, count(page, "svg", "class", "truth"));
        assertEquals(2, count(page, "svg", "class", "found"));
        assertEquals(4, count(page, "path", "class", "curve"));
        List<String> measured = List.of("0.250", "0.500", "0.750", "0.500");
        assertEquals(twice(measured), shares(page));
        List<String> counted =
                List.of("leaf predicted as leaf: 3 of 4", "leaf predicted as background: 1 of 4");
        assertEquals(twice(counted), cells(page));
        assertTrue(texts(page, "span", "note").get(1).startsWith("2 of 72 images; "));
        assertEquals(
                List.of(
                        "1 correct, 0 false positives, 0 missed",
                        "1 correct, 0 false positives, 0 missed"),
                texts(page, "span", "tally"));
    }

    @Test
    void masksHaveClassColors() throws Exception {
        Size size = new Size(60, 80);
        Rle labeled = Rle.fromBox(size, 10, 10, 20, 20);
        Rle hole = Rle.fromBox(size, 15, 15, 5, 5);
        Instances truth = Instances.groundTruth(Boxes.of(10, 10, 30, 30), 1);
        Instances found =
                Instances.predicted(Boxes.of(10, 10, 30, 30), new int[] {1}, new float[] {0.9f});
        String jpeg = "AAAA";
        Examples examples =
                objects(
                        new DetectionExample(
                                "whole.jpg",
                                size,
                                jpeg,
                                truth.withMasks(List.of(labeled)),
                                Instances.empty(),
                                found),
                        new DetectionExample(
                                "box.jpg",
                                size,
                                jpeg,
                                truth,
                                Instances.empty(),
                                found.withMasks(List.of(hole))));

        Document page = parse(write(withExamples(full("leaf"), examples)));

        List<Element> masks =
                elements(page, "path").stream()
                        .filter(path -> path.getAttribute("class").equals("mask"))
                        .toList();
        assertEquals(
                List.of("M30 10v20h-20v-20z", "M20 15v5h-5v-5z"),
                masks.stream().map(mask -> mask.getAttribute("d")).toList());
        String color = String.format(Locale.ROOT, "--c:#%06x", ClassColors.rgb(1));
        for (Element mask : masks) {
            assertEquals(color, ((Element) mask.getParentNode()).getAttribute("style"));
        }
        Element legend =
                elements(page, "li").stream()
                        .filter(item -> item.getAttribute("style").equals(color))
                        .findFirst()
                        .orElseThrow();
        assertEquals("class 1", legend.getTextContent());
    }

    @Test
    void correctWrongIgnoredAndMissedObjectsAreMarked() throws Exception {
        Instances truth = Instances.groundTruth(Boxes.of(10, 10, 30, 30, 40, 10, 60, 30), 0, 0);
        Instances found =
                Instances.predicted(
                        Boxes.of(10, 10, 30, 30, 0, 40, 20, 60, 0, 60, 20, 80),
                        new int[] {0, 0, 1},
                        new float[] {0.9f, 0.8f, 0.8f});
        Instances crowd = Instances.groundTruth(Boxes.of(0, 0, 80, 80), 1);
        DetectionExample example =
                new DetectionExample("a.jpg", new Size(60, 80), "AAAA", truth, crowd, found);

        Document page = parse(write(withExamples(empty(), objects(example))));

        assertEquals(
                List.of("box missed", "box correct", "box ignored", "box wrong", "box correct"),
                elements(page, "g").stream().map(box -> box.getAttribute("class")).toList());
        assertEquals(
                List.of("correct", "wrong", "ignored", "missed"),
                elements(page, "li").stream().map(key -> key.getAttribute("class")).toList());
        assertEquals(
                List.of("1 correct, 1 false positive, 1 missed"), texts(page, "span", "tally"));

        Examples compared =
                new Examples(
                        List.of(List.of(example, example)),
                        List.of("one", "other"),
                        List.of("leaf", "stem"),
                        0.5,
                        1);
        Document comparison = parse(write(withExamples(empty(), compared)));
        assertEquals(2, count(comparison, "g", "class", "box"));
        assertEquals(2, count(comparison, "g", "class", "box wrong"));
    }

    @Test
    void picturesCanBeEnlarged() throws Exception {
        Document page = parse(write(full("leaf")));

        List<Element> buttons = elements(page, "button");
        assertEquals(4, buttons.size());
        assertEquals(
                List.of("Ground truth of leaf", "Predictions for leaf"),
                buttons.stream()
                        .limit(2)
                        .map(button -> (Element) button.getFirstChild())
                        .map(picture -> picture.getAttribute("aria-label"))
                        .toList());
    }

    @Test
    void largeMasksAreSimplified() {
        Size size = new Size(3000, 4000);
        MaskPath path = MaskPath.trace(Rle.fromBox(size, 1000, 500, 2000, 1000));

        assertEquals(new MaskPath("M600 100v200h-400v-200z", 5), path);
        assertEquals("", MaskPath.trace(Rle.empty(size)).steps());
    }

    @Test
    void escapesHostileNames() throws Exception {
        String html = write(full(HOSTILE));
        Document page = parse(html);

        assertEquals(0, page.getElementsByTagName("img").getLength());
        assertEquals(1, page.getElementsByTagName("script").getLength());
        assertEquals(SHOWN, text(page, "title"));
        assertEquals(List.of(SHOWN, SHOWN), texts(page, "span", "name"));
        assertFalse(html.contains("\0") || html.contains("\u202E"), "control characters");
    }

    @Test
    void nothingIsLoadedFromElsewhere() throws Exception {
        String html = write(full("leaf"));
        Document page = parse(html);

        assertFalse(html.contains("://"), "an address");
        assertFalse(html.contains("@import") || html.contains("url("), "a style sheet's address");
        for (Element image : elements(page, "image")) {
            assertTrue(image.getAttribute("href").startsWith("data:image/jpeg;base64,"));
        }
    }

    @Test
    void pictureIsEmbeddedOnce() throws Exception {
        byte[] jpeg = new byte[300_000];
        new Random(1).nextBytes(jpeg);
        Report data = withExamples(full("leaf"), objects(example("big.jpg", jpeg)));

        int length = write(data).length();

        assertTrue(length < jpeg.length * 4 / 3 + 40_000, "length " + length);
    }

    @Test
    void longCurvesAreThinnedButKeepTheirEnds() throws Exception {
        double[] x = IntStream.range(0, 100_000).asDoubleStream().toArray();
        Series series = Series.of("loss", x, x);
        LineChart chart = new LineChart("Loss", "iteration", List.of(series)).smoothed();

        String html = write(withTraining(empty(), List.of(chart)));

        assertTrue(html.length() < 60_000, "length " + html.length());
        Element curve = elements(parse(html), "path").get(1);
        assertTrue(curve.getAttribute("d").startsWith("M52 "), curve.getAttribute("d"));
        assertTrue(curve.getAttribute("d").contains("L548 "), curve.getAttribute("d"));
    }

    @Test
    void emptyInputsLeaveTheirSectionsOut() throws Exception {
        Document page = parse(write(empty()));

        assertEquals(0, page.getElementsByTagName("section").getLength());
        assertEquals("nothing", text(page, "h1"));
    }

    @Test
    void undefinedMetricsAreNotAvailable() throws Exception {
        LineChart none = new LineChart("AP", "epoch", List.of());
        LineChart noPoints = new LineChart("AP", "epoch", List.of(series()));
        LineChart gaps = new LineChart("AP", "epoch", List.of(series(Double.NaN, Double.NaN)));
        LineChart point = new LineChart("AP", "epoch", List.of(series(0.5))).smoothed();
        double absent = -1;
        Section section =
                new Section(
                        "none",
                        "",
                        table(new Row("AP", "", List.of(absent))),
                        table(),
                        table(new Row("leaf", "0", List.of(absent, absent, absent))),
                        new Charts(List.of()),
                        new FactList(List.of()),
                        new Commands(List.of()),
                        new TextTable(List.of("none"), List.of()),
                        new HeatMap("none", List.of(), List.of(), false));
        Report all =
                new Report(
                        "title",
                        "",
                        List.of(Fact.ofFraction("AP", -1, "")),
                        List.of(
                                training(List.of(none, noPoints, gaps, point)),
                                section,
                                new Section(
                                        "data",
                                        "",
                                        new Charts(
                                                List.of(
                                                        new Histogram(
                                                                "none", "count", List.of()))))));

        String html = write(all);

        parse(html);
        assertEquals(4, html.split(">n/a</td>", -1).length - 1);
        assertEquals(1, html.split(">n/a</dd>", -1).length - 1);
        assertFalse(html.contains("NaN"), "a number that is none");
    }

    @Test
    void showsLabelMapsNextToPredictions() throws Exception {
        SegmentationExample example =
                new SegmentationExample(HOSTILE, "AQ==", "Ag==", Set.of(2), 0.5, "91.0 % right");
        Examples examples = Examples.of(List.of(example), List.of("sky", "road", "car"), 0, 1);

        Document page = parse(write(withExamples(empty(), examples)));

        List<Element> images = elements(page, "img");
        assertEquals(
                List.of("data:image/jpeg;base64,AQ==", "data:image/jpeg;base64,Ag=="),
                images.stream().map(image -> image.getAttribute("src")).toList());
        assertEquals("Ground truth of " + SHOWN, images.get(0).getAttribute("alt"));
        Element car = elements(page, "li").get(0);
        assertEquals("car", car.getTextContent());
        assertEquals(
                String.format(Locale.ROOT, "--c:#%06x", ClassColors.rgb(2)),
                car.getAttribute("style"));
        assertEquals(List.of("91.0 % right"), texts(page, "span", "tally"));
    }

    @Test
    void reportsMissingFolder() {
        Path file = folder.resolve("missing").resolve("report.html");
        SaccadeException e = assertThrows(SaccadeException.class, () -> empty().write(file));
        assertEquals(SaccadeException.Kind.USER, e.kind());
    }

    @Test
    void doesNotWriteThroughLinks() throws Exception {
        Path other = Files.writeString(folder.resolve("other.html"), "mine");
        Files.createSymbolicLink(folder.resolve("report.html"), other);
        assertTrue(write(empty()).contains("<html"));
        assertEquals("mine", Files.readString(other));
    }

    @Test
    void classCurvesHaveClassColors() {
        double[] x = {0, 1};
        Markup out = new Markup();
        new LineChart(
                        "F1",
                        "score",
                        List.of(Series.of("leaf", x, x).ofClass(2), Series.of("mean", x, x)))
                .write(out);
        String color = String.format(Locale.ROOT, "--c:#%06x", ClassColors.rgb(2));
        assertTrue(out.toString().contains("class=\"curve\" style=\"" + color), out.toString());
        assertTrue(out.toString().contains("class=\"curve all\" style=\"--c:var(--ink)"));
    }

    private String write(Report report) throws Exception {
        Path file = folder.resolve("report.html");
        report.write(file);
        return Files.readString(file);
    }

    /** Parses the page as XML, without style sheet and script. */
    private static Document parse(String html) throws Exception {
        String markup =
                html.replaceFirst("(?s)<style>.*?</style>", "<style/>")
                        .replaceFirst("(?s)<script>.*?</script>", "<script/>");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(markup)));
    }

    private static List<Element> elements(Document page, String tag) {
        var nodes = page.getElementsByTagName(tag);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(i -> (Element) nodes.item(i))
                .toList();
    }

    private static String text(Document page, String tag) {
        return elements(page, tag).get(0).getTextContent();
    }

    private static List<String> texts(Document page, String tag, String kind) {
        return elements(page, tag).stream()
                .filter(element -> element.getAttribute("class").equals(kind))
                .map(Element::getTextContent)
                .toList();
    }

    /** The overview and the sections show the same text. */
    private static List<String> twice(List<String> texts) {
        return Stream.concat(texts.stream(), texts.stream()).toList();
    }

    private static List<String> shares(Document page) {
        return texts(page, "td", "share");
    }

    private static List<String> cells(Document page) {
        return texts(page, "path", "cell");
    }

    private static long count(Document page, String tag, String attribute, String value) {
        return elements(page, tag).stream()
                .filter(element -> element.getAttribute(attribute).equals(value))
                .count();
    }

    private static Series series(double... values) {
        double[] x = IntStream.range(0, values.length).asDoubleStream().toArray();
        return Series.of("AP", x, values);
    }

    private static DetectionExample example(String name, byte[] jpeg) {
        Instances truth = Instances.groundTruth(Boxes.of(10, 10, 30, 30), 0);
        Instances found =
                Instances.predicted(Boxes.of(11, 10, 30, 30), new int[] {0}, new float[] {0.9f});
        String base64 = Base64.getEncoder().encodeToString(jpeg);
        return new DetectionExample(
                name, new Size(60, 80), base64, truth, Instances.empty(), found);
    }

    private static Examples objects(DetectionExample... examples) {
        return Examples.of(List.of(examples), List.of("leaf"), 0.5, 72);
    }

    private static Report empty() {
        return new Report(
                "nothing",
                "",
                List.of(),
                List.of(
                        objects().section(),
                        training(List.of()),
                        new Section("empty", "", table()),
                        new Section("Config", "", new YamlText(" "))));
    }

    private static Section training(List<LineChart> charts) {
        return new Section("Training", "", Charts.of(charts));
    }

    private static FractionTable table(Row... rows) {
        return new FractionTable(List.of("name", "note"), List.of(rows));
    }

    private static Report full(String name) {
        LineChart chart = new LineChart(name, name, List.of(series(0.1, 0.4, 0.7)));
        double half = 0.5;
        Row classRow = new Row(name, "5", List.of(half, 0.75, half));
        HeatMap map =
                new HeatMap(
                        name,
                        List.of(name, "background"),
                        List.of(List.of(3L, 1L), List.of(0L, 0L)),
                        false);
        Section section =
                new Section(
                        name,
                        name,
                        table(new Row(name, name, List.of(0.25))),
                        new FractionTable(List.of(name), List.of(classRow), true),
                        new TextTable(List.of(name, name), List.of(List.of(name, name))),
                        Charts.of(List.of(chart.withUnitAxes())),
                        new FactList(List.of(new Fact(name, name, name))),
                        new Commands(List.of(name)),
                        map);
        return new Report(
                name,
                name,
                List.of(new Fact(name, name, name)),
                List.of(
                        section,
                        objects(example(name, new byte[9]), example(name, new byte[9])).section(),
                        training(List.of(chart, chart.smoothed().withUnitYAxis())),
                        section,
                        new Section(
                                name,
                                "",
                                new FactList(List.of(new Fact(name, name))),
                                new Charts(
                                        List.of(
                                                new Histogram(
                                                        name, name, List.of(new Bar(name, 3)))))),
                        new Section("Config", "", new YamlText(name + ": " + name + " # " + name)),
                        new Section(name, "", new FactList(List.of(new Fact(name, name))))));
    }

    private static Report withTraining(Report report, List<LineChart> charts) {
        return with(report, training(charts));
    }

    private static Report withExamples(Report report, Examples examples) {
        return with(report, examples.section());
    }

    /** Replaces the section of the same title. */
    private static Report with(Report report, Section section) {
        List<Section> sections = new ArrayList<>(report.sections());
        sections.replaceAll(each -> each.title().equals(section.title()) ? section : each);
        return new Report(report.title(), report.subtitle(), report.headline(), sections);
    }
}

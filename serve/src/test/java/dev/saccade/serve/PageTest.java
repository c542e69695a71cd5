package dev.saccade.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Tests the page in Chromium, if installed. */
@Timeout(180)
class PageTest {

    @TempDir private Path folder;
    private Path program;

    @BeforeEach
    void findBrowser() {
        Assumptions.assumeTrue(
                Browser.find().isPresent(),
                "no Chromium: install it (Debian: apt-get install chromium), or name it with"
                        + " CHROMIUM");
        program = Browser.find().orElseThrow();
    }

    private interface Visit {
        void by(Browser browser) throws Exception;
    }

    private void visit(TrainedModel<?> model, Visit visit) throws Exception {
        try (model;
                PredictionServer server =
                        PredictionServer.of(model).name("<b>mine</b>").maxBatch(1).start();
                Browser browser = Browser.open(program, folder.resolve("profile"), server.uri())) {
            visit.by(browser);
        }
    }

    private Path photo(String name, String kind, int number) throws Exception {
        return Files.write(folder.resolve(name), ServedModels.image(kind, number));
    }

    private static int count(Browser browser, String selector) throws Exception {
        return browser.evaluate("document.querySelectorAll('" + selector + "').length").asInt();
    }

    private static String text(Browser browser, String selector) throws Exception {
        return browser.evaluate("document.querySelector('" + selector + "').textContent").asText();
    }

    private static void slide(Browser browser, double level) throws Exception {
        browser.evaluate(
                String.format(
                        Locale.ROOT,
                        "level.value = %s; level.dispatchEvent(new Event('input'))",
                        level));
    }

    @Test
    void objectsFollowSliderAndClasses() throws Exception {
        Detector detector = ServedModels.detector(folder);
        Path first = photo("first <i>.png", "png", 1);
        Path second = photo("second.jpg", "jpg", 2);
        Path none = Files.writeString(folder.resolve("none.jpg"), "<html>");
        List<DetectedObject> expected = detector.detect(first, 0);
        visit(
                detector,
                browser -> {
                    assertEquals("<b>mine</b>", text(browser, "h1"));
                    browser.choose("#files", List.of(first, second, none));
                    browser.await("entries.length === 3 && document.body.dataset.state === 'idle'");

                    assertEquals(1, count(browser, "figure.error"));
                    assertTrue(text(browser, ".error p").contains("is not an image"));
                    slide(browser, 0.05);
                    assertEquals(shown(expected, 0.05, ""), boxes(browser));
                    assertTrue(boxes(browser) > 0);
                    double middle = expected.get(expected.size() / 2).score();
                    slide(browser, Math.ceil(middle * 100) / 100);
                    assertEquals(
                            shown(expected, Math.ceil(middle * 100) / 100, ""), boxes(browser));

                    slide(browser, 0.05);
                    String label = text(browser, "#classes button span");
                    browser.evaluate("document.querySelector('#classes button').click()");
                    assertEquals(shown(expected, 0.05, label), boxes(browser));
                    browser.evaluate("document.querySelector('#classes button').click()");

                    JsonNode json =
                            new ObjectMapper().readTree(browser.evaluate("json()").asText());
                    assertEquals(2, json.size());
                    assertEquals("first <i>.png", json.at("/0/image").asText());
                    JsonNode output = json.at("/0/objects");
                    assertEquals(shown(expected, 0.05, ""), output.size());
                    assertEquals(
                            expected.get(0).mask().orElseThrow().toCompressedString(),
                            output.at("/0/segmentation/counts").asText());

                    browser.evaluate("document.querySelector('figcaption button').click()");
                    assertEquals(2, count(browser, "figure"));
                    browser.evaluate("document.querySelector('#clear').click()");
                    assertEquals(0, count(browser, "figure"));
                });
    }

    /** The proxy may serve the page without a trailing slash. */
    @Test
    void worksBelowAPathOfAProxy() throws Exception {
        Path first = photo("first.png", "png", 1);
        try (Detector detector = ServedModels.detector(folder);
                PredictionServer server = PredictionServer.of(detector).score(0.05).start();
                SubpathProxy proxy = new SubpathProxy("/models/one", server.uri())) {
            for (String end : List.of("", "/")) {
                URI page = URI.create(proxy.uri() + end);
                Path profile = folder.resolve("profile" + end.length());
                try (Browser browser = Browser.open(program, profile, page)) {
                    browser.choose("#files", List.of(first));
                    browser.await("entries.length === 1 && document.body.dataset.state === 'idle'");
                    assertEquals(0, count(browser, "figure.error"));
                    assertTrue(boxes(browser) > 0);
                }
            }
        }
    }

    private static int boxes(Browser browser) throws Exception {
        return count(browser, "figure:first-child svg path:not(.halo)");
    }

    private static int shown(List<DetectedObject> objects, double score, String hidden) {
        return (int)
                objects.stream()
                        .filter(each -> (float) each.score() >= score)
                        .filter(each -> !each.label().equals(hidden))
                        .count();
    }

    @Test
    void pixelsHavePredictedClasses() throws Exception {
        Segmenter segmenter = ServedModels.segmenter(folder);
        Path photo = photo("street.png", "png", 3);
        var map = segmenter.segment(photo);
        visit(
                segmenter,
                browser -> {
                    browser.choose("#files", List.of(photo));
                    browser.await("entries.length === 1 && document.body.dataset.state === 'idle'");
                    String names =
                            "[...entries[0].owner].map(i => entries[0].response.regions[i].label)";
                    JsonNode output =
                            new ObjectMapper()
                                    .readTree(
                                            browser.evaluate("JSON.stringify(" + names + ")")
                                                    .asText());
                    assertEquals(map.width() * map.height(), output.size());
                    for (int i = 0; i < output.size(); i++) {
                        assertEquals(
                                map.at(i % map.width(), i / map.width()), output.get(i).asText());
                    }
                    assertEquals(map.fractions().size(), count(browser, "#classes button"));
                    slide(browser, 0.25);
                    assertEquals(
                            "0.25",
                            browser.evaluate("document.querySelector('canvas').style.opacity")
                                    .asText());
                });
    }

    @Test
    void pageFitsPhoneWithoutErrors() throws Exception {
        Path photo = photo("a-name-without-an-end".repeat(9) + ".png", "png", 3);
        visit(
                ServedModels.detector(folder),
                browser -> {
                    browser.show(420, 800, true);
                    browser.choose("#files", List.of(photo));
                    browser.await("entries.length === 1 && document.body.dataset.state === 'idle'");
                    assertEquals(
                            420, browser.evaluate("document.documentElement.scrollWidth").asInt());
                    assertEquals(List.of(), browser.faults());
                    assertFalse(browser.picture().length < 5000);
                });
    }
}

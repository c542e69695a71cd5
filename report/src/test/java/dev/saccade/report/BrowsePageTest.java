package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Text;
import dev.saccade.report.BrowsePage.ObjectSize;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

class BrowsePageTest {

    private static final String HOSTILE = "</script><img src=x onerror=\"alert('1')\">&\u202E";

    @Test
    void escapesHostileNames() throws Exception {
        String html =
                new BrowsePage(
                                HOSTILE,
                                HOSTILE,
                                List.of(HOSTILE),
                                List.of(photo(HOSTILE)),
                                List.of(HOSTILE))
                        .page();

        assertEquals(2, html.split("</script>", -1).length - 1);
        assertFalse(html.contains("<img") || html.contains("\u202E"));
        JsonNode photo = data(html).get(1).get(0);
        assertEquals("</script><img src=x onerror=\"alert('1')\">&\\u202e", photo.get(0).asText());
        assertEquals(2, photo.get(4).get(0).asInt());
    }

    @Test
    void tenThousandImagesGiveAboutTwoMegabytes() throws Exception {
        List<BrowsePage.Entry> photos =
                IntStream.range(0, 10_000)
                        .mapToObj(i -> photo(Text.format("photograph_%012d.jpg", i)))
                        .toList();
        String html = new BrowsePage("all", "", List.of("cat"), photos, List.of()).page();

        assertEquals(10_000, data(html).get(1).size());
        assertTrue(html.length() < 2_500_000, "length " + html.length());
    }

    @Test
    void sizesMatchCoco() {
        assertEquals(ObjectSize.SMALL, ObjectSize.of(1023));
        assertEquals(ObjectSize.MEDIUM, ObjectSize.of(1024));
        assertEquals(ObjectSize.MEDIUM, ObjectSize.of(9215));
        assertEquals(ObjectSize.LARGE, ObjectSize.of(9216));
    }

    private static BrowsePage.Entry photo(String name) {
        return new BrowsePage.Entry(
                name,
                "image.jpg",
                "thumbnails/image.jpg",
                Set.of(0),
                Set.of(ObjectSize.LARGE),
                1,
                List.of("annotation 7: has no area"));
    }

    private static JsonNode data(String html) throws Exception {
        Matcher data = Pattern.compile("id=\"data\">(.*?)</script>", Pattern.DOTALL).matcher(html);
        assertTrue(data.find());
        return new ObjectMapper().readTree(data.group(1));
    }
}

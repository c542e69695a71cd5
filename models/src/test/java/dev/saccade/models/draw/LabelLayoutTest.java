package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

class LabelLayoutTest {

    private static final Boxes BOX = Boxes.of(20, 30, 90, 80);

    private final LabelLayout layout = new LabelLayout(new Size(100, 200), BOX);

    @Test
    void namesAreAboveTheirBox() {
        assertEquals(
                Optional.of(new LabelLayout.Place(20, 20, 40, 10)), layout.place(BOX, 0, 40, 10));
    }

    @Test
    void namesOfEqualBoxesDoNotOverlap() {
        List<LabelLayout.Place> places = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LabelLayout.Place place = layout.place(BOX, 0, 30, 10).orElseThrow();
            boolean inside = place.top() >= 30 && place.top() + place.height() <= 80;
            assertEquals(i >= 4, inside, i + ": " + place);
            for (LabelLayout.Place other : places) {
                assertTrue(
                        Math.abs(place.left() - other.left()) >= 30
                                || Math.abs(place.top() - other.top()) >= 10,
                        place + " on " + other);
            }
            places.add(place);
        }
    }

    @Test
    void namesWithoutFreeCornerAreOmitted() {
        LabelLayout crowded = new LabelLayout(new Size(10, 40), BOX);
        Boxes box = Boxes.of(0, 0, 40, 10);
        assertTrue(crowded.place(box, 0, 30, 10).isPresent());
        assertEquals(Optional.empty(), crowded.place(box, 0, 30, 10));
        assertTrue(crowded.place(box, 0, 10, 10).isPresent());
    }

    @Test
    void namesDoNotHideSmallObjects() {
        Boxes boxes = Boxes.of(20, 30, 90, 80, 22, 21, 32, 29);
        LabelLayout crowded = new LabelLayout(new Size(100, 200), boxes);
        LabelLayout.Place place = crowded.place(boxes, 0, 40, 10).orElseThrow();
        assertTrue(place.top() >= 30 || place.left() > 32, place.toString());
    }

    @Test
    void namesStayInsideTheImage() {
        LabelLayout.Place place =
                layout.place(Boxes.of(190, 96, 200, 100), 0, 70, 10).orElseThrow();

        assertTrue(place.left() + place.width() <= 200, place.toString());
        assertTrue(place.top() + place.height() <= 100, place.toString());
    }
}

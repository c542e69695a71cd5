package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

class FormatTest {

    @ParameterizedTest
    @ValueSource(
            strings = {"jpeg", "png", "webp", "labels", "safetensors", "legacy", "coco", "bmp"})
    void whatIsCutIsJoinedToTheSame(String name) {
        Door door = Doors.of(name);
        for (byte[] seed : door.seeds()) {
            assertArrayEquals(seed, door.format().join(door.format().cut(seed)));
        }
    }

    @Property(tries = 300)
    void anythingCanBeCutAndJoined(@ForAll long seed, @ForAll byte[] bytes) {
        for (String name : List.of("jpeg", "png", "webp", "safetensors", "zip", "legacy", "coco")) {
            Door door = Doors.of(name);
            byte[] input = new Inputs(door, seed).get(door.seeds().size() + bytes.length);
            for (byte[] any : List.of(input, bytes)) {
                door.format().join(door.format().cut(any));
            }
        }
    }
}

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
    void cutInputsJoinToTheOriginal(String name) {
        FuzzTarget target = FuzzTargets.of(name);
        for (byte[] seed : target.seeds()) {
            assertArrayEquals(seed, target.format().join(target.format().cut(seed)));
        }
    }

    @Property(tries = 300)
    void anyBytesCanBeCutAndJoined(@ForAll long seed, @ForAll byte[] bytes) {
        for (String name : List.of("jpeg", "png", "webp", "safetensors", "zip", "legacy", "coco")) {
            FuzzTarget target = FuzzTargets.of(name);
            byte[] input = new Inputs(target, seed).get(target.seeds().size() + bytes.length);
            for (byte[] any : List.of(input, bytes)) {
                target.format().join(target.format().cut(any));
            }
        }
    }
}

package org.example;

import dev.saccade.models.Box;
import dev.saccade.models.Detector;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import java.util.List;

@SpringBootApplication
public class Finder {

    record FoundObject(String label, double score, Box box) {}

    @RestController
    record ObjectController(Detector detector) {

        @PostMapping(path = "/objects", consumes = "image/*")
        List<FoundObject> detect(@RequestBody byte[] image) {
            return detector.detect(image).stream()
                    .map(object -> new FoundObject(object.label(), object.score(), object.box()))
                    .toList();
        }
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Finder.class, arguments);
    }
}

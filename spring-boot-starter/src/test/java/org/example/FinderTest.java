package org.example;

import static org.mockito.Mockito.when;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;

import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.MediaType;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;

import java.util.List;
import java.util.Optional;

@SpringBootTest(properties = "saccade.model=")
class FinderTest {

    @MockitoBean private Detector detector;
    @Autowired private WebApplicationContext context;

    @Test
    void returnsObjects() throws Exception {
        byte[] image = {1, 2, 3};
        Box box = new Box(10, 20, 30, 40);
        when(detector.detect(image))
                .thenReturn(List.of(new DetectedObject("coin", 0, 0.9, box, Optional.empty())));
        MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
        mvc.perform(post("/objects").contentType(MediaType.IMAGE_JPEG).content(image))
                .andExpect(jsonPath("$[0].label").value("coin"));
    }
}

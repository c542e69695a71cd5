package dev.saccade.models.zoo;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/** The bundled recipes, listed in {@code configs/zoo.yaml}. */
public final class Zoo {

    private static final String OWN = "saccade";

    private final ImmutableMap<String, Recipe> recipes;

    /** Content of {@code zoo.yaml}: source of each recipe by head and name. */
    private record Table(
            Map<String, Map<String, String>> objectDetection,
            Map<String, Map<String, String>> instanceSegmentation,
            Map<String, Map<String, String>> semanticSegmentation,
            @Default("{}") Map<String, Map<String, String>> imageClassification) {}

    private Zoo(ImmutableMap<String, Recipe> recipes) {
        this.recipes = recipes;
    }

    public static Zoo packaged() {
        Table table = Configs.bind(ConfigFile.packaged("zoo.yaml"), Table.class);
        Papers papers = Papers.packaged();
        ImmutableMap.Builder<String, Recipe> recipes = ImmutableMap.builder();
        add(TargetKind.BOXES, table.objectDetection(), papers, recipes);
        add(TargetKind.MASKS, table.instanceSegmentation(), papers, recipes);
        add(TargetKind.LABEL_MAPS, table.semanticSegmentation(), papers, recipes);
        add(TargetKind.CLASSES, table.imageClassification(), papers, recipes);
        return new Zoo(recipes.buildOrThrow());
    }

    private static void add(
            TargetKind targets,
            Map<String, Map<String, String>> heads,
            Papers papers,
            ImmutableMap.Builder<String, Recipe> recipes) {
        heads.forEach(
                (head, members) ->
                        members.forEach(
                                (member, source) -> {
                                    String name = head + "/" + member;
                                    recipes.put(name, recipe(name, targets, source, papers));
                                }));
    }

    private static Recipe recipe(String name, TargetKind targets, String source, Papers papers) {
        return source.equals(OWN)
                ? new Recipe(name, targets, Optional.empty(), Map.of())
                : new Recipe(
                        name,
                        targets,
                        Optional.of(papers.sources().get(source).publication()),
                        papers.published(source, name));
    }

    /** Returns all recipes, grouped by task and head. */
    public Collection<Recipe> recipes() {
        return recipes.values();
    }

    /**
     * Returns a recipe, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}; throws if the name is
     * unknown.
     */
    public Recipe recipe(String name) {
        Recipe recipe = recipes.get(name);
        if (recipe == null) {
            throw SaccadeException.user(
                    "unknown recipe %s%s",
                    name,
                    Suggestions.find(name, recipes.keySet())
                            .map(near -> "; did you mean " + near + "?")
                            .orElse("; expected a name such as mask_rcnn/swin_tiny_fpn_1x_coco"));
        }
        return recipe;
    }
}

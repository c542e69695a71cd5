package dev.saccade.models.zoo;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/**
 * The recipes that come with the library, as {@code configs/zoo.yaml} lists them; weights are
 * {@link PretrainedWeights}.
 */
public final class Zoo {

    private static final String OWN = "saccade";

    private final ImmutableMap<String, Recipe> recipes;

    /** {@code zoo.yaml}: sources of recipes by head and name. */
    private record Table(
            Map<String, Map<String, String>> objectDetection,
            Map<String, Map<String, String>> instanceSegmentation,
            Map<String, Map<String, String>> semanticSegmentation) {}

    private Zoo(ImmutableMap<String, Recipe> recipes) {
        this.recipes = recipes;
    }

    /** Returns the recipes of this version of the library. */
    public static Zoo packaged() {
        Table table = Configs.bind(ConfigFile.packaged("zoo.yaml"), Table.class);
        Papers papers = Papers.packaged();
        ImmutableMap.Builder<String, Recipe> recipes = ImmutableMap.builder();
        add(TargetKind.BOXES, table.objectDetection(), papers, recipes);
        add(TargetKind.MASKS, table.instanceSegmentation(), papers, recipes);
        add(TargetKind.LABEL_MAPS, table.semanticSegmentation(), papers, recipes);
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
                        Optional.of(papers.sources().get(source).original()),
                        papers.published(source, name));
    }

    /** Returns all recipes, by task and family. */
    public Collection<Recipe> recipes() {
        return recipes.values();
    }

    /**
     * Returns a recipe.
     *
     * @param name such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}
     * @throws SaccadeException of kind user that names the nearest one, if there is none
     */
    public Recipe recipe(String name) {
        Recipe recipe = recipes.get(name);
        if (recipe == null) {
            throw SaccadeException.user(
                    "no recipe %s%s",
                    name,
                    Suggestions.find(name, recipes.keySet())
                            .map(near -> "; did you mean " + near + "?")
                            .orElse(", expected one such as mask_rcnn/swin_tiny_fpn_1x_coco"));
        }
        return recipe;
    }
}

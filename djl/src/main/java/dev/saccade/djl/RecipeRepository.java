package dev.saccade.djl;

import ai.djl.Application;
import ai.djl.repository.AbstractRepository;
import ai.djl.repository.Artifact;
import ai.djl.repository.License;
import ai.djl.repository.MRL;
import ai.djl.repository.Metadata;
import ai.djl.util.Progress;

import com.google.common.collect.Maps;

import dev.saccade.core.components.TargetKind;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lists the recipes for DJL with task, license and published metrics, but without files. */
final class RecipeRepository extends AbstractRepository {

    private static final String VERSION = "0.1.0";

    private final Zoo zoo;

    RecipeRepository(Zoo zoo) {
        super("Saccade", URI.create("saccade:/"));
        this.zoo = zoo;
    }

    /** Returns DJL's application for models trained on the given targets. */
    static Application application(TargetKind targets) {
        return switch (targets) {
            case BOXES -> Application.CV.OBJECT_DETECTION;
            case MASKS, MASKS_AND_LABEL_MAPS -> Application.CV.INSTANCE_SEGMENTATION;
            case LABEL_MAPS -> Application.CV.SEMANTIC_SEGMENTATION;
            case CLASSES -> Application.CV.IMAGE_CLASSIFICATION;
        };
    }

    @Override
    public List<MRL> getResources() {
        return zoo.recipes().stream()
                .map(each -> model(application(each.targets()), SaccadeZoo.GROUP, each.name()))
                .toList();
    }

    @Override
    public Metadata locate(MRL mrl) {
        Recipe recipe = zoo.recipe(mrl.getArtifactId());
        Metadata metadata = new Metadata();
        metadata.setResourceType("model");
        metadata.setApplication(mrl.getApplication());
        metadata.setGroupId(SaccadeZoo.GROUP);
        metadata.setArtifactId(recipe.name());
        metadata.setName(recipe.name());
        metadata.setRepositoryUri(mrl.toURI());
        metadata.addLicense(license("recipe", "Apache-2.0"));
        recipe.publication()
                .ifPresent(
                        original -> {
                            metadata.setDescription(original.title());
                            original.website().ifPresent(metadata::setWebsite);
                            original.license()
                                    .map(name -> license("original", name))
                                    .ifPresent(metadata::addLicense);
                        });
        metadata.setArtifacts(List.of(artifact(recipe)));
        return metadata;
    }

    private static License license(String of, String name) {
        License license = new License();
        license.setId(of);
        license.setName(name);
        return license;
    }

    private static Artifact artifact(Recipe recipe) {
        Artifact artifact = new Artifact();
        artifact.setVersion(VERSION);
        artifact.setName(recipe.name());
        artifact.setProperties(
                new TreeMap<>(Maps.transformValues(recipe.published(), Object::toString)));
        artifact.getArguments().put(SaccadeBlockFactory.RECIPE, recipe.name());
        return artifact;
    }

    @Override
    public Artifact resolve(MRL mrl, Map<String, String> filter) {
        return locate(mrl).getArtifacts().stream()
                .filter(artifact -> artifact.hasProperties(filter))
                .findFirst()
                .orElse(null);
    }

    /** Does nothing, because recipes are part of the library. */
    @Override
    public void prepare(Artifact artifact, Progress progress) {}

    @Override
    public boolean isRemote() {
        return false;
    }
}

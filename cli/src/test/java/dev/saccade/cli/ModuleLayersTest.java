package dev.saccade.cli;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.core.domain.properties.HasParameterTypes.Predicates.rawParameterTypes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;

import com.google.common.collect.Iterables;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.bench.OperatorBench;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.memory.PinnedMemory;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Roofline;
import dev.saccade.core.ops.script.Script;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSummary;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.tune.JobMain;

import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.format.DateTimeFormatter;
import java.util.Formatter;
import java.util.List;
import java.util.Random;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Modules import only from the layers below them, and follow the rules of the project. */
@AnalyzeClasses(
        packages = "dev.saccade",
        locations = ModuleLayersTest.OtherClasses.class,
        importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleLayersTest {

    /** The classes of modules that are not on the class path of the command, if they are built. */
    static final class OtherClasses implements LocationProvider {

        @Override
        public Set<Location> get(Class<?> test) {
            return Stream.of("spark", "spring-boot-starter")
                    .map(module -> Path.of("..", module, "target", "classes"))
                    .filter(Files::isDirectory)
                    .map(Location::of)
                    .collect(Collectors.toSet());
        }
    }

    /** The modules of each layer, from the bottom up. */
    private static final List<List<String>> LAYERS =
            List.of(
                    List.of("core"),
                    List.of("config"),
                    List.of("checkpoint"),
                    List.of("backbones", "necks", "heads", "datasets"),
                    List.of("models", "demo"),
                    List.of("eval", "djl", "serve", "video"),
                    List.of("train", "export"),
                    List.of("report", "configgen", "bench"),
                    List.of("mlflow", "tune"),
                    List.of("cli", "spark", "spring"));

    @ArchTest static final ArchRule modulesImportFromLowerLayers = importsFromBelow();

    private static ArchRule importsFromBelow() {
        LayeredArchitecture architecture =
                layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String module : Iterables.concat(LAYERS)) {
            String inside = "dev.saccade." + module + "..";
            boolean optional = List.of("spark", "spring").contains(module);
            architecture =
                    (optional ? architecture.optionalLayer(module) : architecture.layer(module))
                            .definedBy(inside);
        }
        for (int layer = 0; layer < LAYERS.size(); layer++) {
            List<List<String>> above = LAYERS.subList(layer + 1, LAYERS.size());
            String[] allowed = Iterables.toArray(Iterables.concat(above), String.class);
            for (String module : LAYERS.get(layer)) {
                architecture =
                        allowed.length == 0
                                ? architecture.whereLayer(module).mayNotBeAccessedByAnyLayer()
                                : architecture
                                        .whereLayer(module)
                                        .mayOnlyBeAccessedByLayers(allowed);
            }
        }
        return architecture;
    }

    @ArchTest
    static final ArchRule modulesHaveNoCycles =
            slices().matching("dev.saccade.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule packagesOfDatasetsHaveNoCycles =
            slices().assignedFrom(new PackagesOf("dev.saccade.datasets")).should().beFreeOfCycles();

    /** Treats each package as a slice, except the list of components, which imports all of them. */
    private record PackagesOf(String module) implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String folder = type.getPackageName();
            return folder.startsWith(module) && !type.isAssignableTo(ComponentProvider.class)
                    ? SliceIdentifier.of(folder)
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "packages of " + module;
        }
    }

    @ArchTest
    static final ArchRule randomnessComesFromSeeds =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .areAssignableTo(Random.class)
                    .orShould()
                    .callMethod(Math.class, "random");

    @ArchTest
    static final ArchRule librariesUseTheirOwnThreads =
            noClasses()
                    .should()
                    .callMethod(ForkJoinPool.class, "commonPool")
                    .orShould()
                    .callMethod(BaseStream.class, "parallel");

    /** Arabic and Persian locales, among others, format numbers with their own digits. */
    @ArchTest
    static final ArchRule nothingDependsOnTheLocale =
            noClasses()
                    .should()
                    .callMethod(String.class, "format", String.class, Object[].class)
                    .orShould()
                    .callMethod(String.class, "formatted", Object[].class)
                    .orShould()
                    .callMethod(String.class, "toLowerCase")
                    .orShould()
                    .callMethod(String.class, "toUpperCase")
                    .orShould()
                    .callMethodWhere(
                            target(nameMatching("format|printf"))
                                    .and(
                                            target(
                                                    owner(
                                                            assignableTo(PrintWriter.class)
                                                                    .or(
                                                                            assignableTo(
                                                                                    PrintStream
                                                                                            .class)))))
                                    .and(target(rawParameterTypes(String.class, Object[].class))))
                    .orShould()
                    .callConstructor(Formatter.class)
                    .orShould()
                    .callConstructor(Scanner.class, InputStream.class)
                    .orShould()
                    .callMethod(DateTimeFormatter.class, "ofPattern", String.class)
                    .orShould()
                    .dependOnClassesThat()
                    .areAssignableTo(java.text.Format.class);

    @ArchTest
    static final ArchRule librariesDoNotPrint =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .should()
                    .accessField(System.class, "out")
                    .orShould()
                    .accessField(System.class, "err");

    @ArchTest
    static final ArchRule librariesLogThroughSlf4j =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "ch.qos.logback..", "java.util.logging..", "org.apache..log4j..");

    @ArchTest
    static final ArchRule librariesDoNotEndTheProcess =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .and()
                    .areNotAssignableTo(JobMain.class)
                    .should()
                    .callMethod(System.class, "exit", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "exit", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "halt", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "addShutdownHook", Thread.class);

    /**
     * A manager without a device creates arrays on DJL's default device, not on the model's device.
     */
    @ArchTest
    static final ArchRule managersHaveADevice =
            noClasses()
                    .that()
                    .areNotAssignableTo(Libtorch.class)
                    .should()
                    .callMethodWhere(
                            target(name("newBaseManager"))
                                    .or(target(name("defaultDevice")))
                                    .or(target(name("newModel"))));

    /** All other classes compute on the device of the model. */
    @ArchTest
    static final ArchRule onlyTheseClassesChooseTheCpu =
            noClasses()
                    .that()
                    .doNotBelongToAnyOf(
                            Devices.class,
                            // capabilities of libtorch, and scripts, which contain their constants
                            Autocast.class,
                            Roofline.class,
                            HostTransfers.class,
                            Kernels.class,
                            PinnedMemory.class,
                            ProcessGroup.class,
                            Script.class,
                            TensorMemory.class,
                            // values on their way to a GPU
                            Tensors.class,
                            // checkpoints and model sizes
                            Naming.class,
                            Tensor.class,
                            Weights.class,
                            BackboneSummary.class,
                            Model.class,
                            ModelSummary.class,
                            OperatorBench.class,
                            // learning rates and other scalars, which libtorch expects on the CPU
                            ModelEma.class,
                            Optimizer.class)
                    .and()
                    .doNotHaveSimpleName("PositionTables")
                    .and()
                    .doNotHaveSimpleName("StepMemory")
                    .and()
                    .doNotHaveSimpleName("WeightMatch")
                    .and()
                    .doNotHaveSimpleName("WeightInterpolation")
                    .and()
                    .resideOutsideOfPackages("dev.saccade.export..", "dev.saccade.testsupport..")
                    .should()
                    .callMethod(Device.class, "cpu");

    /** {@code Tensors} counts reads, because each read makes a training step wait for the GPU. */
    @ArchTest
    static final ArchRule arraysAreReadThroughTensors =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "dev.saccade.backbones..",
                            "dev.saccade.necks..",
                            "dev.saccade.heads..",
                            "dev.saccade.models..",
                            "dev.saccade.eval..",
                            "dev.saccade.train..")
                    .should()
                    .callMethodWhere(
                            target(owner(assignableTo(NDArray.class)))
                                    .and(
                                            target(
                                                    nameMatching(
                                                            "to[A-Z]\\w*(Array|Buffer)|get(Byte|Boolean|Uint8|Int|Long|Float|Double|String)"))));

    /**
     * DJL converts the number to a tensor and frees it before the backward pass reads it, so
     * gradients are wrong. A constant in a script is not affected.
     */
    @ArchTest
    static final ArchRule productsWithConstantsAreScripts =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "dev.saccade.core.nn..",
                            "dev.saccade.backbones..",
                            "dev.saccade.necks..",
                            "dev.saccade.heads..",
                            "dev.saccade.models..")
                    .should()
                    .callMethodWhere(
                            target(owner(assignableTo(NDArray.class)))
                                    .and(target(nameMatching("(mul|div|pow)i?")))
                                    .and(target(rawParameterTypes(Number.class))));

    @ArchTest
    static final ArchRule staticFieldsAreFinal = fields().that().areStatic().should().beFinal();
}

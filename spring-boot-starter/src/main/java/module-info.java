open module dev.saccade.springbootstarter {
    requires transitive dev.saccade.models;
    requires org.slf4j;
    requires spring.beans;
    requires transitive spring.boot;
    requires static spring.boot.actuator;
    requires transitive spring.boot.autoconfigure;
    requires static spring.boot.health;
    requires transitive spring.context;
    requires spring.core;
    requires static spring.web;

    exports dev.saccade.spring;
}

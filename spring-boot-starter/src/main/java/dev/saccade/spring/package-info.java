/** Auto-configuration for Spring Boot. */
package dev.saccade.spring;

/** Software bill of materials (SBOM) of the distribution. */
package dev.saccade.cli.sbom;

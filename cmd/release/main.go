// Command release makes longterm's release files from the repository it runs in: static executables for each system,
// archives, packages for Debian, RPM and Alpine, a Homebrew formula and a Nix flake, the install script, a CycloneDX
// SBOM, and SHA-256 checksums of all of it. The same commit makes the same bytes on every machine.
//
// It is a separate module, so that longterm does not depend on the libraries that make packages.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var r release
	var only string
	flag.StringVar(&r.out, "out", "dist", "directory, relative to the repository; what is there by the same name is replaced")
	flag.StringVar(&r.version, "version", "", "version as in v1.2.3; without it the tag of the commit, else v0.0.0-dev.COMMIT")
	flag.StringVar(&only, "only", "", "systems, as in linux/amd64,darwin/arm64; without it all")
	flag.BoolVar(&r.site, "site", true, "make the documentation's pages too, in site/")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "go -C cmd/release run . [flags]: make what longterm is published as")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fatal(fmt.Errorf("%q is no flag; -h lists them", flag.Arg(0)))
	}
	var err error
	if r.root, err = repository(); err == nil {
		err = r.choose(only)
	}
	if err == nil {
		err = r.make()
	}
	if err != nil {
		fatal(err)
	}
	fmt.Println(r.out)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "release:", err)
	os.Exit(1)
}

// repository returns the root of the repository that contains the working directory.
func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("not inside the repository of longterm: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(root, "cmd", "longterm")); err != nil {
		return "", fmt.Errorf("%s is not longterm's repository", root)
	}
	return root, nil
}

// Command release makes what longterm is published as, from the repository it runs in: static executables for each
// system, archives, packages for Debian, RPM and Alpine, a Homebrew formula and a Nix flake, the install script, what
// is inside (a CycloneDX SBOM), and SHA-256 sums of all of it. The same commit makes the same bytes, whoever builds it.
//
// It is a module of its own: what packages are made with is nothing that longterm is built or tested with.
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

// repository is the root of the repository that this is run in.
func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("this is run inside the repository, whose commit the release is made of: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(root, "cmd", "longterm")); err != nil {
		return "", fmt.Errorf("%s is not longterm's repository", root)
	}
	return root, nil
}

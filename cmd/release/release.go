package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is one execution of the program.
type release struct {
	root, out, version string
	site               bool // also build the documentation site
	targets            []target

	commit string
	date   time.Time // commit time: the only time written to any file
	work   string    // directory of intermediate files
	docs   []file    // files that are the same for each system
}

// target is an operating system and architecture in Go's names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// binary returns the name under which the executable is published alone. longterm on other machines looks for it.
func (t target) binary() string {
	name := "longterm-" + t.os + "-" + t.arch
	if t.os == "windows" {
		name += ".exe"
	}
	return name
}

var all = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// file is a file in an archive or a package.
type file struct {
	from string // path on this machine
	name string // path in the archive
	to   string // place on a Linux system; empty: not in packages
	mode os.FileMode
}

func (r *release) choose(only string) error {
	if only == "" {
		r.targets = all
		return nil
	}
	for s := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == s })
		if i < 0 {
			return fmt.Errorf("%q is no system that longterm is built for; there are %v", s, all)
		}
		r.targets = append(r.targets, all[i])
	}
	return nil
}

// versionPattern matches the version numbers that all package formats accept.
var versionPattern = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func (r *release) make() (err error) {
	if !filepath.IsAbs(r.out) {
		r.out = filepath.Join(r.root, r.out)
	}
	if err := r.identify(); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "longterm-release"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.writeDocs(); err != nil {
		return err
	}
	var made []string
	for _, t := range r.targets {
		names, err := r.makeTarget(t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		made = append(made, names...)
	}
	rest, err := r.describe()
	if err != nil {
		return err
	}
	if r.site {
		if err := makeSite(filepath.Join(r.root, "docs"), filepath.Join(r.root, "README.md"), filepath.Join(r.out, "site"), r.version); err != nil {
			return fmt.Errorf("site: %w", err)
		}
	}
	return r.sum(append(made, rest...))
}

// identify determines what is released: a commit, its time and a version.
func (r *release) identify() error {
	head, err := r.git("log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, when, _ := strings.Cut(head, " ")
	sec, err := strconv.ParseInt(when, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of commit %s: %w", commit, err)
	}
	r.commit, r.date = commit, time.Unix(sec, 0).UTC()
	if r.version == "" {
		if tag, err := r.git("describe", "--tags", "--exact-match"); err == nil {
			r.version = tag
		} else {
			r.version = "v0.0.0-dev." + commit[:12]
		}
	}
	if !versionPattern.MatchString(r.version) {
		return fmt.Errorf("%q is no version; one looks like v1.2.3 or v1.2.3-rc.1", r.version)
	}
	return nil
}

func (r *release) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", r.root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// packageVersion returns the version without its v, for packages.
func (r *release) packageVersion() string { return strings.TrimPrefix(r.version, "v") }

// build makes an executable: static, without paths of this machine, and reproducible.
func (r *release) build(t target, program, to string) error {
	const setting = "github.com/longterm-dev/longterm/cmd/internal/fastpath.Release"
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", to,
		"-ldflags", "-s -w -buildid= -X "+setting+"="+r.version, "./cmd/"+program)
	c.Dir = r.root
	c.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// writeDocs collects the files beside the executable in each archive: manual, completions, service, licence.
func (r *release) writeDocs() error {
	own := filepath.Join(r.work, "own")
	if err := r.build(host(), "longterm", own); err != nil {
		return err
	}
	add := func(from, name, to string) {
		r.docs = append(r.docs, file{from, name, to, 0o644})
	}
	add(filepath.Join(r.root, "LICENSE"), "LICENSE", "/usr/share/doc/longterm/copyright")
	add(filepath.Join(r.root, "README.md"), "README.md", "/usr/share/doc/longterm/README.md")
	pages, err := filepath.Glob(filepath.Join(r.root, "docs", "man", "longterm*.1"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no manual pages in docs/man: %w", err)
	}
	for _, p := range pages {
		packed := filepath.Join(r.work, filepath.Base(p)+".gz")
		if err := gzipFile(p, packed); err != nil {
			return err
		}
		add(packed, "man/"+filepath.Base(packed), "/usr/share/man/man1/"+filepath.Base(packed))
	}
	for _, c := range []struct{ shell, name, to string }{
		{"bash", "longterm.bash", "/usr/share/bash-completion/completions/longterm"},
		{"zsh", "_longterm", "/usr/share/zsh/vendor-completions/_longterm"},
		{"fish", "longterm.fish", "/usr/share/fish/vendor_completions.d/longterm.fish"},
		{"powershell", "longterm.ps1", ""},
	} {
		out, err := exec.Command(own, "completion", c.shell).Output()
		if err != nil {
			return fmt.Errorf("completions for %s: %w", c.shell, err)
		}
		at := filepath.Join(r.work, c.name)
		if err := os.WriteFile(at, out, 0o644); err != nil {
			return err
		}
		add(at, "completions/"+c.name, c.to)
	}
	unit := filepath.Join(r.work, "longterm.service")
	if err := os.WriteFile(unit, service, 0o644); err != nil {
		return err
	}
	add(unit, "longterm.service", "/usr/lib/systemd/user/longterm.service")
	return nil
}
